// What a command finds in its environment: the base, settings that keep programs from waiting for a person, the marker.

/** Finds what a turn started, whatever became of its parents. */
const TURN_MARKER = 'TURND_TURN';

/**
 * Nobody sits in front of a command. `GIT_EDITOR=true` accepts a prepared message (`rebase --continue`, `merge`) and
 * leaves an unprepared one empty, which git refuses at once; every other editor fails. Askpass programs fail, so that a
 * missing password is an error now and not a wait. `CI` is not set: it changes what builds do, not only whether they ask.
 */
const NON_INTERACTIVE: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'false',
  GCM_INTERACTIVE: 'never',
  EDITOR: 'false',
  VISUAL: 'false',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'force',
  SUDO_ASKPASS: 'false',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
};

/** Later ones win: base, non-interactive settings, what the call asked for, the marker. */
export function commandEnvironment(
  base: Readonly<Record<string, string>>,
  extra: Readonly<Record<string, string>>,
  marker: string,
): Record<string, string> {
  return { ...base, ...NON_INTERACTIVE, ...extra, [TURN_MARKER]: marker };
}

/** Why a variable cannot be set, or null. Names with our prefix carry markers that the sweep relies on. */
export function refusedVariable(name: string, value: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return `env: ${JSON.stringify(name)} is not a name of a variable`;
  if (name.startsWith('TURND_')) return `env: ${name} is reserved (names that begin with TURND_)`;
  if (value.includes('\0')) return `env: the value of ${name} contains a NUL character`;
  return null;
}
