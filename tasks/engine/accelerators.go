package engine

import (
	"context"
	"encoding/csv"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ais_bench/outputs"
)

// accelerators are the machine's GPUs or NPUs as nvidia-smi or npu-smi lists
// them, the processes on them, and the driver's versions. known is false where
// neither tool is installed or answers.
func accelerators(ctx context.Context) (list []outputs.Accelerator, processes []outputs.AcceleratorProcess, versions map[string]string, known bool) {
	if text, err := ask(ctx, "nvidia-smi", "--query-gpu=index,name,uuid,memory.total,memory.used,utilization.gpu,driver_version", "--format=csv,noheader,nounits"); err == nil {
		list, versions = parseNvidia(text)
		byID := map[string]string{}
		for _, a := range list {
			byID[a.ID] = a.Index
		}
		if text, err := ask(ctx, "nvidia-smi", "--query-compute-apps=gpu_uuid,pid,process_name,used_memory", "--format=csv,noheader,nounits"); err == nil {
			processes = parseNvidiaProcesses(text, byID)
		}
		return list, processes, versions, true
	}
	if text, err := ask(ctx, "npu-smi", "info"); err == nil {
		list, processes, versions = parseAscend(text)
		return list, processes, versions, true
	}
	return nil, nil, nil, false
}

// ask runs a small program for its output.
func ask(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = time.Second
	out, err := c.Output()
	return string(out), err
}

// rows reads comma-separated lines; what has too few fields is left out.
func rows(text string, fields int) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace, r.LazyQuotes, r.FieldsPerRecord = true, true, -1
	all, err := r.ReadAll()
	if err != nil {
		return nil
	}
	var out [][]string
	for _, row := range all {
		if len(row) >= fields {
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			out = append(out, row)
		}
	}
	return out
}

func parseNvidia(text string) (list []outputs.Accelerator, versions map[string]string) {
	versions = map[string]string{}
	for _, f := range rows(text, 7) {
		list = append(list, outputs.Accelerator{Index: f[0], Name: f[1], ID: f[2], MemoryTotalMiB: number(f[3]), MemoryUsedMiB: number(f[4]), Utilization: number(f[5])})
		versions["nvidia driver"] = f[6]
	}
	return list, versions
}

func parseNvidiaProcesses(text string, byID map[string]string) (list []outputs.AcceleratorProcess) {
	for _, f := range rows(text, 4) {
		pid, err := strconv.Atoi(f[1])
		if err != nil {
			continue
		}
		index, ok := byID[f[0]]
		if !ok {
			index = f[0]
		}
		list = append(list, outputs.AcceleratorProcess{Accelerator: index, PID: pid, Name: f[2], MemoryMiB: number(f[3])})
	}
	return list
}

// number reads a figure; nil for "[N/A]" and the like.
func number(s string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return nil
	}
	return &v
}

// npu-smi prints tables for people: two lines a chip, then one line a process.
var (
	ascendVersion = regexp.MustCompile(`npu-smi (\S+)\s+Version:\s*(\S+)`)
	ascendMemory  = regexp.MustCompile(`(\d+)\s*/\s*(\d+)`)
)

func parseAscend(text string) (list []outputs.Accelerator, processes []outputs.AcceleratorProcess, versions map[string]string) {
	versions = map[string]string{}
	if m := ascendVersion.FindStringSubmatch(text); m != nil {
		versions["npu-smi"], versions["ascend driver"] = m[1], m[2]
	}
	inProcesses := false
	var open *outputs.Accelerator // its second line is still to come
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "Process id") {
			inProcesses, open = true, nil
		}
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		first := strings.Fields(cells[0])
		if len(first) == 0 {
			continue
		}
		if _, err := strconv.Atoi(first[0]); err != nil {
			continue // a heading, or a sentence
		}
		switch {
		case inProcesses && len(cells) >= 4:
			if pid, err := strconv.Atoi(cells[1]); err == nil {
				processes = append(processes, outputs.AcceleratorProcess{Accelerator: strings.Join(first, "."), PID: pid, Name: cells[2], MemoryMiB: number(cells[3])})
			}
		case inProcesses:
		case open == nil && len(first) >= 2 && len(cells) >= 3:
			list = append(list, outputs.Accelerator{Index: first[0], Name: strings.Join(first[1:], " ")})
			open = &list[len(list)-1]
		case open != nil && len(cells) >= 3:
			open.Index += "." + first[0]
			open.ID = cells[1]
			if f := strings.Fields(cells[2]); len(f) > 0 {
				open.Utilization = number(f[0])
			}
			if m := ascendMemory.FindAllStringSubmatch(cells[2], -1); m != nil { // the last pair is the HBM's
				open.MemoryUsedMiB, open.MemoryTotalMiB = number(m[len(m)-1][1]), number(m[len(m)-1][2])
			}
			open = nil
		}
	}
	return list, processes, versions
}
