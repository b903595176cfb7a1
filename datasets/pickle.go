package datasets

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxTestCases bounds what one row may unpack to: a crafted file must not fill
// the memory.
const maxTestCases = 1 << 30

// Packed is a column that is unpacked when it is needed: JSON, or JSON in a
// pickled string, deflated and in base64.
type Packed string

// Unpack decodes the column. The pickle is read by a reader that knows nothing
// but strings.
func (p Packed) Unpack() (any, error) {
	text := strings.TrimSpace(string(p))
	if strings.HasPrefix(text, "[") {
		v, err := decodeJSON([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("not JSON: %s", jsonProblem(err))
		}
		return v, nil
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor base64: %w", err)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("not deflated: %w", err)
	}
	defer z.Close()
	raw, err := io.ReadAll(io.LimitReader(z, maxTestCases+1))
	if err != nil {
		return nil, fmt.Errorf("damaged deflate stream: %w", err)
	}
	if len(raw) > maxTestCases {
		return nil, fmt.Errorf("unpacks to more than %d bytes", maxTestCases)
	}
	inner, err := unpickleString(raw)
	if err != nil {
		return nil, err
	}
	v, err := decodeJSON([]byte(inner))
	if err != nil {
		return nil, fmt.Errorf("the pickled string is not JSON: %s", jsonProblem(err))
	}
	return v, nil
}

// unpickleString reads a pickle that is one str and nothing else. It knows only
// the opcodes such a pickle has (protocols 2 to 5), so that no pickle, however
// crafted, can make it do anything but return a string.
func unpickleString(raw []byte) (string, error) {
	const (
		opProto           = 0x80
		opFrame           = 0x95
		opShortBinUnicode = 0x8c
		opBinUnicode      = 'X'
		opBinUnicode8     = 0x8d
		opMemoize         = 0x94
		opBinPut          = 'q'
		opLongBinPut      = 'r'
		opStop            = '.'
	)
	short := errors.New("pickle ends too early")
	value, have := "", false
	take := func(n uint64) ([]byte, error) {
		if n > uint64(len(raw)) {
			return nil, short
		}
		b := raw[:n]
		raw = raw[n:]
		return b, nil
	}
	for {
		op, err := take(1)
		if err != nil {
			return "", err
		}
		var width, length uint64
		switch op[0] {
		case opProto, opBinPut:
			width = 1
		case opLongBinPut:
			width = 4
		case opFrame:
			width = 8
		case opMemoize:
		case opShortBinUnicode:
			length = 1
		case opBinUnicode:
			length = 4
		case opBinUnicode8:
			length = 8
		case opStop:
			if !have {
				return "", errors.New("pickle holds no string")
			}
			return value, nil
		default:
			return "", fmt.Errorf("pickle has the opcode 0x%02x; only a plain string is accepted", op[0])
		}
		if _, err := take(width); err != nil {
			return "", err
		}
		if length == 0 {
			continue
		}
		size, err := take(length)
		if err != nil {
			return "", err
		}
		var padded [8]byte
		copy(padded[:], size)
		text, err := take(binary.LittleEndian.Uint64(padded[:]))
		if err != nil {
			return "", err
		}
		value, have = string(text), true
	}
}
