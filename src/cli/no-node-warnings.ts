/**
 * Hides Node's warnings about experimental features, deprecations and possible leaks: users of Nightshift can't do
 * anything about them. `NODE_OPTIONS=--trace-warnings` shows them. Must be imported first.
 */
const options = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
if (!/--(trace-(warnings|deprecation)|throw-deprecation|pending-deprecation)/.test(options)) {
  process.removeAllListeners('warning');
}
