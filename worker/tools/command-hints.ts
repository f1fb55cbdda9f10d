// Says what to do when a command failed, or did nothing, because it wanted a person in front of it.

interface Hint {
  readonly command?: RegExp;
  readonly output?: RegExp;
  /** Only when the command printed nothing. */
  readonly silent?: true;
  readonly advice: string;
}

const NO_INPUT =
  'Standard input is empty and there is no terminal. Give the input with a pipe or a here-document, or start it with ' +
  'open_stdin: true and feed it with write_stdin.';

const HINTS: readonly Hint[] = [
  {
    output: /Aborting commit due to empty commit message|Please supply the message using either -m/,
    advice: 'There is no editor. Pass the message with -m or -F.',
  },
  {
    output:
      /error: there was a problem with the editor|Editor .*false.* (failed|exited)|no changes made to crontab/i,
    advice: 'There is no editor. Give the content with options, a pipe or a file instead.',
  },
  {
    output: /terminal prompts disabled|could not read (Username|Password)|unable to read askpass response/,
    advice: 'Nobody can type credentials. Use a credential helper, a key, or a URL that needs none.',
  },
  {
    output: /sudo: (a terminal is required|a password is required|no tty present|no password was provided)/,
    advice: 'Nobody can type a password: sudo works only where it needs none (sudo -n).',
  },
  {
    output: /Host key verification failed|Permission denied \((publickey|password)/,
    advice:
      'Nobody can confirm a host key or type a password. The host must be known and a key must be set up.',
  },
  { output: /EOF when reading a line|EOFError|\(yes\/no\)|\[y\/N\]\s*$|\[Y\/n\]\s*$/, advice: NO_INPUT },
  {
    output:
      /^(?!Pseudo-terminal).*(not a tty|not a terminal|stdin is not a terminal|Inappropriate ioctl for device|must be run from a terminal)/im,
    advice:
      'It needs a terminal, and there is none. Look for an option that runs it without (batch, yes, plain).',
  },
  {
    command: /(^|[;&|]\s*)(python3?|node|irb|ghci|lua|psql|mysql|sqlite3|bc|cat|bash|sh|ssh|ftp|telnet)\s*$/,
    silent: true,
    advice: NO_INPUT,
  },
  { command: /(^|[;&|]\s*)read(\s|$)/, silent: true, advice: NO_INPUT },
  { command: /\bnpm init\b(?!.*(-y|--yes))/, advice: 'npm init asks questions; use npm init -y.' },
];

/** Advice for a command that ended, or null. `output` is what the model sees of it. */
export function commandHint(command: string, output: string, exitCode: number | null): string | null {
  for (const hint of HINTS) {
    const byCommand = hint.command === undefined || hint.command.test(command.trim());
    const byOutput = hint.output === undefined || (exitCode !== 0 && hint.output.test(output.slice(-4000)));
    const bySilence = hint.silent === undefined || output === '';
    const ran = exitCode === 0 && hint.silent === undefined;
    if (byCommand && byOutput && bySilence && !ran) return hint.advice;
  }
  return null;
}
