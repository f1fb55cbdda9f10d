// Writes what a patch planned: everything is staged and checked before the first file changes, and what was changed is put
// back when a later file refuses.
import { chmod, unlink } from 'node:fs/promises';
import { onFile } from '../files/errno.js';
import { makeParents, type StagedWrite, stageWrite, writeWhole } from '../files/staged-write.js';
import { holdsStill } from '../files/still-holds.js';
import { ToolFailure } from '../files/tool-failure.js';
import type { PlannedFile } from './plan-patch.js';

interface Step {
  readonly file: PlannedFile;
  /** Null for a file that goes away. */
  readonly staged: StagedWrite | null;
}

export async function carryOut(files: readonly PlannedFile[]): Promise<void> {
  const steps: Step[] = [];
  const done: PlannedFile[] = [];
  try {
    for (const file of files) if (changes(file)) steps.push({ file, staged: await stage(file) });
    for (const { file, staged } of steps) {
      if (staged === null) await holdsStill(file.real, file.shown, file.before ?? 'absent');
      else await staged.check();
    }
    // Files go away last: until then every content exists somewhere.
    const ordered = [
      ...steps.filter((step) => step.staged !== null),
      ...steps.filter((step) => step.staged === null),
    ];
    for (const { file, staged } of ordered) {
      if (staged === null) await onFile(file.shown, () => unlink(file.real));
      else await staged.commit();
      done.push(file);
    }
  } catch (error) {
    for (const { file, staged } of steps) if (!done.includes(file)) await staged?.discard();
    const stuck = await putBack(done);
    if (stuck.length === 0 || !(error instanceof ToolFailure)) throw error;
    throw new ToolFailure(
      `${error.message} These files are changed already and could not be put back: ${stuck.join(', ')}.`,
    );
  }
}

function changes(file: PlannedFile): boolean {
  if (file.after === null || file.before === null) return file.after !== file.before;
  return !file.after.equals(file.before) || (file.mode !== null && file.mode !== file.modeBefore);
}

async function stage(file: PlannedFile): Promise<StagedWrite | null> {
  const { real, shown, before, after, mode } = file;
  if (after === null) return null;
  if (before === null) await makeParents(real, shown);
  return await stageWrite({
    real,
    shown,
    bytes: after,
    expected: before ?? 'absent',
    ...(mode === null ? {} : { mode }),
  });
}

/** Undoes in reverse; names what cannot be undone. */
async function putBack(done: readonly PlannedFile[]): Promise<string[]> {
  const stuck: string[] = [];
  for (const { real, shown, before, modeBefore } of done.toReversed()) {
    try {
      if (before === null) await unlink(real);
      else {
        await writeWhole({ real, shown, bytes: before, expected: 'anything' });
        await chmod(real, modeBefore);
      }
    } catch {
      stuck.push(shown);
    }
  }
  return stuck;
}
