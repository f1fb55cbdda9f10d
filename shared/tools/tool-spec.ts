// What a built-in tool is: its name, what it takes, what kind of action it is, and where it runs. No behaviour here.
import type * as v from 'valibot';

/** What a call does to the world; permission profiles judge by it. */
export type ActionKind = 'read' | 'search' | 'edit' | 'command' | 'network' | 'state' | 'control';

export type ToolParams = v.GenericSchema<Record<string, unknown>>;

export interface ToolSpec {
  /** Dotted name, as people see it; the wire name a provider gets is derived (`wire-names.ts`). */
  readonly name: string;
  /** One paragraph for the model: what it does, limits, what it returns. */
  readonly description: string;
  readonly params: ToolParams;
  readonly action: ActionKind;
  /** The process that executes a granted call: the turn's worker, or the supervisor that owns the state. */
  readonly runs: 'worker' | 'supervisor';
  /** Read-only calls of one answer run side by side; the others one after the other, in order of the answer. */
  readonly readOnly: boolean;
  /** An unchanged repeat looks again at something that may have changed: loop detection then counts only repeats whose result is identical too. Absent: as `readOnly`. */
  readonly polls?: boolean;
  /** Of a tool that the supervisor runs: its answer may come later, and the turn is parked if that takes long. */
  readonly waits?: boolean;
}
