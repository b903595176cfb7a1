// Speed of the reference library on the texts of BenchmarkEncode, for a
// side-by-side table:
//
//   npm i --ignore-scripts tokenizers@0.23.2
//   AIS_BENCH_TOKENIZERS=DIR AIS_BENCH_TEXTS=DIR node reference_speed.mjs [MODEL …]
//   AIS_BENCH_TOKENIZERS=DIR AIS_BENCH_TEXTS=DIR go test -run '^$' -bench Encode -cpu 1 ./datasets/tokenizer
//
// DIR of tokenizers has MODEL/tokenizer.json, DIR of texts en.txt, zh.txt and
// code.txt. The library is called once a 2 KB chunk and awaited, so the bridge to
// JavaScript is part of its time. Prints MB/s.
import fs from 'node:fs'
import path from 'node:path'
import { createRequire } from 'node:module'

const { Tokenizer } = createRequire(path.join(process.cwd(), 'x.js'))('tokenizers')
const models = process.env.AIS_BENCH_TOKENIZERS
const texts = process.env.AIS_BENCH_TEXTS
const chosen = process.argv.slice(2)

function chunks(file) {
  const bytes = fs.readFileSync(file)
  const out = []
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + 2048, bytes.length)
    while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end++
    out.push({ text: bytes.subarray(at, end).toString(), size: end - at })
    at = end
  }
  return out
}

for (const model of chosen.length ? chosen : fs.readdirSync(models).sort()) {
  const tokenizer = Tokenizer.fromString(fs.readFileSync(path.join(models, model, 'tokenizer.json'), 'utf8'))
  const row = []
  for (const kind of ['en', 'zh', 'code']) {
    const list = chunks(path.join(texts, `${kind}.txt`))
    let size = 0
    const start = performance.now()
    for (let i = 0; performance.now() - start < 1000; i++) {
      const c = list[i % list.length]
      await tokenizer.encode(c.text, null, { addSpecialTokens: false })
      size += c.size
    }
    row.push((size / 1000 / (performance.now() - start)).toFixed(2))
  }
  console.log(model.padEnd(14), row.join('  '))
}
