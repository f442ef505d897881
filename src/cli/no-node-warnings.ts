/**
 * Node tells its user about experimental features, deprecations and possible leaks. The user of Nightshift can't do anything
 * about them. Whoever looks for a cause asks Node for it: `NODE_OPTIONS=--trace-warnings`. Imported first, so that nothing
 * is said before.
 */
const options = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
if (!/--(trace-(warnings|deprecation)|throw-deprecation|pending-deprecation)/.test(options)) {
  process.removeAllListeners('warning');
}
