// Runs a file of tests whose functions say that they are entered, and writes which of them called which: see `trace_node.py`.
//
// Arguments: the folder of what runs, the file to write, the file of tests. Written: [[caller, callee, between]]; a callee is the word
// that `__entered` was given, a caller the [file, line, column] in the text that ran, lines and columns from 0, and `between` whether
// something stood between the two that is none of the folder's files.
const fs = require('fs')
const path = require('path')
const root = fs.realpathSync(process.argv[2]) + path.sep
const out = process.argv[3]
const tests = path.resolve(process.argv[4])
const found = new Map()
const outside = path.sep + 'node_modules' + path.sep

Error.stackTraceLimit = 60
const frames = () => {
  const before = Error.prepareStackTrace
  Error.prepareStackTrace = (_, sites) => sites
  const sites = new Error().stack
  Error.prepareStackTrace = before
  return Array.isArray(sites) ? sites.slice(2) : []
}
globalThis.__entered = (word) => {
  const sites = frames()
  for (let at = 1; at < sites.length; at += 1) {
    if (sites[at].isAsync()) return
    const file = sites[at].getFileName() || ''
    if (file.startsWith(root) && !file.includes(outside)) {
      const caller = [file.slice(root.length), sites[at].getLineNumber() - 1, sites[at].getColumnNumber() - 1]
      const edge = [caller, word, at > 1]
      found.set(JSON.stringify(edge), edge)
      return
    }
  }
}
process.on('exit', () => fs.writeFileSync(out, JSON.stringify([...found.values()])))
process.argv = [process.argv[0], tests]
require(tests)
