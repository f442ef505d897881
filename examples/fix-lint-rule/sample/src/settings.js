const DEFAULTS = { theme: 'light', rows: 20 };

/** A setting that is null or missing has its default. */
export function setting(settings, name) {
  if (settings == undefined) return DEFAULTS[name];
  return settings[name] != null ? settings[name] : DEFAULTS[name];
}
