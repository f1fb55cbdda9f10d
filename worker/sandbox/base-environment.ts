// The environment that every command starts from: an allow-list over what the supervisor gave this worker.
// The only place outside config/ and supervisor/ that reads the environment: a worker gets an allow-listed one
// from its supervisor, and what a shell needs of it (PATH, HOME, locale) is not worth a field of the snapshot.

const ALLOWED = ['PATH', 'HOME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL'] as const;

const FALLBACK_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Allow-listed variables of `source`, with a PATH always and a UTF-8 locale when none is set. */
export function baseEnvironment(
  source: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const base: Record<string, string> = { PATH: FALLBACK_PATH };
  for (const [name, value] of Object.entries(source)) {
    const allowed = name.startsWith('LC_') || (ALLOWED as readonly string[]).includes(name);
    if (allowed && value !== undefined && value !== '') base[name] = value;
  }
  if (base['LANG'] === undefined && base['LC_ALL'] === undefined) base['LANG'] = 'C.UTF-8';
  return base;
}
