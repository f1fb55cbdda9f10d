// Commands that outlived their yield time, by number, for one turn. They end with the turn at the latest.
import type { RunningCommand } from './running-command.js';

export const SESSIONS_MAX = 8;

export interface ShellSession {
  readonly id: number;
  readonly commandLine: string;
  readonly running: RunningCommand;
}

class ShellSessions {
  readonly #sessions = new Map<number, ShellSession>();
  #lastId = 0;

  get all(): readonly ShellSession[] {
    return [...this.#sessions.values()];
  }

  get isFull(): boolean {
    return this.all.filter((session) => !session.running.isOver).length >= SESSIONS_MAX;
  }

  /** Numbers are small and never used twice in a turn. */
  add(commandLine: string, running: RunningCommand): ShellSession {
    this.#lastId += 1;
    const session = { id: this.#lastId, commandLine, running };
    this.#sessions.set(session.id, session);
    // Ended ones nobody asked about again are forgotten, oldest first.
    const unread = this.all.filter((each) => each.running.isOver);
    for (const old of unread.slice(0, Math.max(0, unread.length - SESSIONS_MAX))) this.remove(old.id);
    return session;
  }

  get(id: number): ShellSession | undefined {
    return this.#sessions.get(id);
  }

  remove(id: number): void {
    this.#sessions.delete(id);
  }
}

const byTurn = new Map<string, ShellSessions>();

/** The sessions of the turn with this process marker. */
export function sessionsOf(processMarker: string): ShellSessions {
  const existing = byTurn.get(processMarker);
  if (existing !== undefined) return existing;
  const created = new ShellSessions();
  byTurn.set(processMarker, created);
  return created;
}

/** Ends what is left of a turn's sessions; resolves when every process of theirs is gone. Returns how many still ran. */
export async function endAllSessions(processMarker: string): Promise<number> {
  const sessions = byTurn.get(processMarker)?.all ?? [];
  byTurn.delete(processMarker);
  const live = sessions.filter((session) => !session.running.isOver);
  for (const session of live) session.running.stop('interrupted');
  await Promise.all(live.map((session) => session.running.ended));
  // Nobody will be told of these any more, so nobody will take over their kept output.
  await Promise.all(sessions.map((session) => session.running.spill?.discard()));
  return live.length;
}
