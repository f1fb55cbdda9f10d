// The worker's end of the line to a command's init: what it said, and how to let it go.
import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';

export interface InitLine {
  /** The pid that the init sees as its own, or null when it ended before it came up. */
  readonly ready: Promise<number | null>;
  /** Exit status of the command as a shell tells it, or null when the init ended without saying. */
  readonly status: Promise<number | null>;
  go(): void;
  /** Lets the init leave; what is left of the command ends with it. */
  close(): void;
}

export function initLine(child: ChildProcess): InitLine {
  const line = child.stdio[3] as Duplex | undefined;
  let onReady: (pid: number | null) => void = () => undefined;
  let onStatus: (status: number | null) => void = () => undefined;
  const ready = new Promise<number | null>((resolve) => {
    onReady = resolve;
  });
  const status = new Promise<number | null>((resolve) => {
    onStatus = resolve;
  });
  let text = '';
  line?.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const readyAt = /^ready (\d+)$/m.exec(text)?.[1];
    if (readyAt !== undefined) onReady(Number(readyAt));
    const exitAt = /^exit (\d+)\n/m.exec(text)?.[1];
    if (exitAt !== undefined) onStatus(Number(exitAt));
  });
  const gone = (): void => {
    onReady(null);
    onStatus(null);
  };
  // An init that is killed leaves the line at its end, or broken when we had something to say.
  line?.on('error', gone).on('close', gone);
  child.on('error', gone);
  return {
    ready,
    status,
    go: () => line?.write('go\n'),
    close: () => line?.destroy(),
  };
}
