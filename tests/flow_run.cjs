// Runs the cases of a folder and prints which of their functions called which: a process of its own for `test_flow_ecmascript`.
//
// Argument: a folder with a folder of files for each case, `main.js` first, in which each function begins with `__entered(number)`.
// Output: {case: [[caller, callee]]}; a callee is its number, a caller the [file, line, column] of the call in the text that ran.
// What is handed to a promise is called by who hands it over; all else by the nearest function of the case that V8 has on its stack.
const fs = require('fs')
const path = require('path')
const root = fs.realpathSync(process.argv[2]) + path.sep
const found = {}
let handing = null // frames of who handed over what a promise calls now

Error.stackTraceLimit = Infinity
const frames = () => {
  const before = Error.prepareStackTrace
  Error.prepareStackTrace = (_, sites) => sites
  const sites = new Error().stack
  Error.prepareStackTrace = before
  return sites
    .filter((site) => (site.getFileName() || '').startsWith(root) && !site.isAsync())
    .map((site) => [site.getFileName().slice(root.length), site.getLineNumber() - 1, site.getColumnNumber() - 1])
}
globalThis.__entered = (number) => {
  const [own, caller] = [...frames(), ...(handing || [])]
  if (caller === undefined) return
  const name = own[0].split(path.sep)[0]
  found[name] = found[name] || {}
  found[name][JSON.stringify([caller, number])] = true
}
for (const name of ['then', 'catch', 'finally']) {
  const own = Promise.prototype[name]
  Promise.prototype[name] = function (...given) {
    const at = frames()
    const handed = given.map((value) => typeof value !== 'function' ? value : function (...values) {
      const before = handing
      handing = at
      try { return value.apply(this, values) } finally { handing = before }
    })
    return own.apply(this, at.length ? handed : given)
  }
}
process.on('exit', () => {
  const told = {}
  for (const name of Object.keys(found)) told[name] = Object.keys(found[name]).map((edge) => JSON.parse(edge))
  fs.writeSync(1, JSON.stringify(told))
})
for (const name of fs.readdirSync(root).sort()) require(path.join(root, name, 'main.js'))
