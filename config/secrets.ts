// Secret references and what they stand for. A configuration names its secrets (`{{secret:NAME}}`,
// `{{secret-file:PATH}}`) and never holds them, so the file can be shared, printed and committed.
// A resolved value lives in a Secret, which nothing can print by accident.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { inspect } from 'node:util';

const REFERENCE = /\{\{\s*(secret|secret-file)\s*:\s*([^{}]*?)\s*\}\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,254}$/;
/** Far above any token; a reference to a wrong, large file is a mistake to be told. */
const SECRET_BYTES_MAX = 65_536;

/** A value that shows as `***` wherever it is printed, serialised or inspected. */
export class Secret {
  readonly #value: string;
  /** The text that stands in the configuration: safe to show. */
  readonly reference: string;

  constructor(value: string, reference: string) {
    this.#value = value;
    this.reference = reference;
  }

  /** The value itself. Call it only where it goes on the wire to its owner. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [Symbol.toPrimitive](): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }
}

/** Every secret value of one configuration, so that whatever leaves the process can be masked. */
export class ResolvedSecrets {
  readonly #values: readonly string[];

  constructor(values: Iterable<string>) {
    this.#values = [...new Set(values)];
  }

  get values(): readonly string[] {
    return this.#values;
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return `ResolvedSecrets(${this.#values.length})`;
  }
}

export function hasReference(text: string): boolean {
  return /\{\{\s*secret(?:-file)?\s*:/.test(text);
}

/** The text with its references cut out: what stands in the file for everyone to read. */
export function withoutReferences(text: string): string {
  return text.replaceAll(REFERENCE, '');
}

export interface SecretSource {
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths of `{{secret-file:…}}` start here: the folder of the file that holds the reference. */
  readonly folder: string;
}

export type Resolution =
  | {
      readonly ok: true;
      readonly secret: Secret;
      readonly parts: readonly string[];
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly messages: readonly string[] };

/** Replaces every reference in `text`. All failures are told at once; no message holds a value. */
export function resolveReferences(text: string, source: SecretSource): Resolution {
  const messages: string[] = [];
  const parts: string[] = [];
  const warnings: string[] = [];
  const value = text.replaceAll(REFERENCE, (whole, kind: string, name: string) => {
    const found = kind === 'secret' ? fromName(name, source.env) : fromFile(expand(name, source), whole);
    if ('warning' in found && found.warning !== undefined) warnings.push(found.warning);
    if (!found.ok) {
      messages.push(found.message);
      return '';
    }
    parts.push(found.value);
    return found.value;
  });
  if (messages.length > 0) return { ok: false, messages };
  if (hasReference(withoutReferences(text))) {
    return { ok: false, messages: ['a reference is written {{secret:NAME}} or {{secret-file:PATH}}'] };
  }
  return { ok: true, secret: new Secret(value, text), parts, warnings };
}

type Found =
  | { readonly ok: true; readonly value: string; readonly warning?: string | undefined }
  | { readonly ok: false; readonly message: string };

/** systemd hands credentials over as files that only the service can read, so they come before the environment. */
function fromName(name: string, env: NodeJS.ProcessEnv): Found {
  if (!NAME.test(name)) {
    return {
      ok: false,
      message: `{{secret:${name}}} is no name (letters, digits, _ . - after a letter or _)`,
    };
  }
  const directory = env.CREDENTIALS_DIRECTORY;
  if (directory !== undefined && directory !== '') {
    const found = readSecret(join(directory, name), `{{secret:${name}}}`);
    if (found !== undefined) return found;
  }
  const value = env[name];
  if (value === undefined || value === '') {
    const where =
      directory === undefined ? `set the environment variable ${name}` : `add the credential ${name}`;
    return { ok: false, message: `{{secret:${name}}} has no value: ${where}` };
  }
  return checked(value, `{{secret:${name}}}`);
}

function fromFile(path: string, reference: string): Found {
  return (
    readSecret(path, reference) ?? {
      ok: false,
      message: `${reference} cannot be read: ${path} does not exist`,
    }
  );
}

/** Undefined when there is no such file. */
function readSecret(path: string, reference: string): Found | undefined {
  let descriptor: number;
  try {
    // Without O_NONBLOCK the open of a pipe that nobody writes to would never return.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT') return undefined;
    return { ok: false, message: `${reference} cannot be read: ${path}: ${code}` };
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { ok: false, message: `${reference} is not a regular file: ${path}` };
    if (stat.size > SECRET_BYTES_MAX) return { ok: false, message: `${reference} is too large for a secret` };
    const buffer = Buffer.alloc(SECRET_BYTES_MAX);
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    const found = checked(buffer.toString('utf8', 0, length), reference);
    // Container platforms mount secrets readable for all by default, so this cannot be refused; it can be said.
    const open = (stat.mode & 0o007) !== 0;
    return found.ok && open
      ? { ...found, warning: `${path} can be read or written by every user of this machine; chmod o-rwx it` }
      : found;
  } finally {
    closeSync(descriptor);
  }
}

/** Strips the one line end that editors and `echo` add; anything else that a header cannot carry is a mistake. */
function checked(raw: string, reference: string): Found {
  const value = raw.replace(/\r?\n$/, '');
  if (value === '') return { ok: false, message: `${reference} is empty` };
  if (/[^\x20-\x7e]/.test(value)) {
    return {
      ok: false,
      message: `${reference} holds line breaks or characters that no request header carries`,
    };
  }
  return { ok: true, value };
}

function expand(path: string, source: SecretSource): string {
  const home = source.env.HOME;
  if (path.startsWith('~/') && home !== undefined) return join(home, path.slice(2));
  return isAbsolute(path) ? path : resolve(source.folder, path);
}
