// The tools that run in the worker, by name. Each is loaded at its first call: a turn pays for those it uses only.
import type { JsonObject } from '../../shared/json.js';
import type { Executor } from './executor.js';

/** Arguments come validated against the tool's spec, so they are what the executor says it takes. */
function lazy<Params>(load: () => Promise<Executor<Params>>): Executor<JsonObject> {
  return async (params, context) => await (await load())(params as Params, context);
}

export const EXECUTORS: Readonly<Record<string, Executor<JsonObject>>> = {
  list_dir: lazy(async () => (await import('./list-dir.js')).listDir),
  read_file: lazy(async () => (await import('./read-file.js')).readFile),
  grep_files: lazy(async () => (await import('./grep-files.js')).grepFiles),
  glob_files: lazy(async () => (await import('./glob-files.js')).globFiles),
  write_file: lazy(async () => (await import('./write-file.js')).writeFile),
  edit_file: lazy(async () => (await import('./edit-file.js')).editFile),
  apply_patch: lazy(async () => (await import('./apply-patch.js')).applyPatch),
  web_fetch: lazy(async () => (await import('./web-fetch.js')).webFetch),
  exec_command: lazy(async () => (await import('./exec-command.js')).execCommand),
  write_stdin: lazy(async () => (await import('./write-stdin.js')).writeStdin),
};
