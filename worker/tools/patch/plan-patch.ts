// Works out what a patch would do, in memory: for every file its bytes before and after. Nothing is written here, so a
// patch that does not apply leaves no trace. Changes of one patch see those before them.
import { stat } from 'node:fs/promises';
import { bytesWith, NEW_TEXT, type TextFile, textOf } from '../edit/text-file.js';
import { onFile } from '../files/errno.js';
import { openRegular, readRange } from '../files/regular-file.js';
import { type Place, resolveExisting, resolvePlace } from '../files/resolve-path.js';
import { textOfUnits, unitsOfText } from '../files/text-codec.js';
import { ToolFailure } from '../files/tool-failure.js';
import { type Applied, applyHunks, type TextOptions } from './apply-hunks.js';
import { joinLines, splitLines } from './file-lines.js';
import type { FileChange, Hunk } from './patch-model.js';

export interface PlannedFile {
  readonly real: string;
  readonly shown: string;
  /** Null: there is no file. */
  readonly before: Buffer | null;
  after: Buffer | null;
  /** Permission bits, where the patch or a rename sets them. */
  mode: number | null;
  /** Those it has now. */
  readonly modeBefore: number;
}

export interface ChangeReport {
  readonly path: string;
  readonly action: 'created' | 'updated' | 'deleted' | 'renamed';
  readonly from?: string;
  readonly added: number;
  readonly removed: number;
  readonly moved_hunks?: number;
}

export interface PatchRejection {
  readonly path: string;
  readonly hunk?: number;
  readonly reason: string;
}

export class PatchPlan {
  readonly reports: ChangeReport[] = [];
  readonly rejections: PatchRejection[] = [];
  readonly #root: string;
  readonly #bytesMax: number;
  readonly #files = new Map<string, PlannedFile>();

  constructor(workspaceRoot: string, bytesMax: number) {
    this.#root = workspaceRoot;
    this.#bytesMax = bytesMax;
  }

  get files(): readonly PlannedFile[] {
    return [...this.#files.values()];
  }

  async add(change: FileChange): Promise<void> {
    try {
      if (change.kind === 'create') await this.#create(change);
      else if (change.kind === 'delete') await this.#delete(change);
      else await this.#update(change);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      this.rejections.push({ path: change.path, reason: error.message });
    }
  }

  async #create(change: FileChange & { kind: 'create' }): Promise<void> {
    const place = await resolvePlace(this.#root, change.path);
    const file = await this.#file(place);
    if (file.after !== null) throw new ToolFailure(`${file.shown} exists already; update it instead.`);
    const applied = this.#apply(change.path, NEW_TEXT, change.hunks, true);
    if (applied === null) return;
    file.after = Buffer.from(joinLines(applied.lines), 'latin1');
    file.mode = change.mode;
    this.#checkSize(file);
    this.reports.push({ path: file.shown, action: 'created', added: applied.added, removed: 0 });
  }

  async #delete(change: FileChange & { kind: 'delete' }): Promise<void> {
    const { file, bytes } = await this.#present(change.path, true);
    let removed = 0;
    if (change.hunks.length > 0) {
      const applied = this.#apply(change.path, textOf(bytes, file.shown), change.hunks, false);
      if (applied === null) return;
      if (applied.lines.length > 0)
        throw new ToolFailure(
          `The patch deletes ${file.shown}, but not all of its lines: ${applied.lines.length} are left.`,
        );
      removed = applied.removed;
    }
    file.after = null;
    this.reports.push({ path: file.shown, action: 'deleted', added: 0, removed });
  }

  async #update(change: FileChange & { kind: 'update' }): Promise<void> {
    const renames = change.newPath !== change.path;
    const { file, bytes } = await this.#present(change.path, renames);
    let after = bytes;
    let applied: Applied | null = null;
    if (change.hunks.length > 0) {
      const text = textOf(bytes, file.shown);
      applied = this.#apply(change.path, text, change.hunks, false);
      if (applied === null) return;
      after = bytesWith(text, joinLines(applied.lines));
    }
    const counts = { added: applied?.added ?? 0, removed: applied?.removed ?? 0 };
    const moved = (applied?.moved ?? 0) > 0 ? { moved_hunks: applied?.moved ?? 0 } : {};
    if (!renames) {
      file.after = after;
      file.mode = change.mode ?? file.mode;
      this.#checkSize(file);
      this.reports.push({ path: file.shown, action: 'updated', ...counts, ...moved });
      return;
    }
    const target = await this.#file(await resolvePlace(this.#root, change.newPath));
    if (target.after !== null)
      throw new ToolFailure(`${target.shown} exists already; nothing can be renamed to it.`);
    target.after = after;
    target.mode = change.mode ?? file.mode ?? file.modeBefore;
    file.after = null;
    this.#checkSize(target);
    this.reports.push({ path: target.shown, action: 'renamed', from: file.shown, ...counts, ...moved });
  }

  #apply(path: string, text: TextFile, hunks: readonly Hunk[], isNew: boolean): Applied | null {
    const { encoding } = text.format;
    const options: TextOptions = {
      encode: (part) => unitsOfText(part, encoding),
      decode: (units) => textOfUnits(units, encoding),
    };
    const applied = applyHunks(isNew ? [] : splitLines(text.units), hunks, options);
    for (const { hunk, reason } of applied.rejections) this.rejections.push({ path, hunk, reason });
    return applied.rejections.length === 0 ? applied : null;
  }

  /** A file that must be there. `whole`: it goes away as a whole, so a link may not stand for it. */
  async #present(path: string, whole: boolean): Promise<{ file: PlannedFile; bytes: Buffer }> {
    const place = await resolvePlace(this.#root, path);
    const known = this.#files.get(place.real);
    if (known === undefined) await resolveExisting(this.#root, path);
    if (whole && place.isLink)
      throw new ToolFailure(`${place.shown} is a symbolic link; delete or rename it with exec_command.`);
    const file = known ?? (await this.#file(place));
    if (file.after === null)
      throw new ToolFailure(`${file.shown} was deleted or renamed by an earlier part of the patch.`);
    return { file, bytes: file.after };
  }

  async #file(place: Place): Promise<PlannedFile> {
    const { real, shown } = place;
    const known = this.#files.get(real);
    if (known !== undefined) return known;
    const before = place.exists ? await this.#load(place) : null;
    const modeBefore = before === null ? 0 : (await onFile(shown, () => stat(real))).mode & 0o777;
    const file: PlannedFile = { real, shown, before, after: before, mode: null, modeBefore };
    this.#files.set(real, file);
    return file;
  }

  async #load(place: Place): Promise<Buffer> {
    const { handle, bytes } = await openRegular(place);
    try {
      if (bytes === null)
        throw new ToolFailure(`${place.shown} is made by the kernel; it cannot be patched.`);
      if (bytes > this.#bytesMax)
        throw new ToolFailure(`${place.shown} has ${bytes} bytes; at most ${this.#bytesMax} can be patched.`);
      return await onFile(place.shown, () => readRange(handle, 0, bytes));
    } finally {
      await handle.close();
    }
  }

  #checkSize(file: PlannedFile): void {
    if ((file.after?.length ?? 0) > this.#bytesMax)
      throw new ToolFailure(`${file.shown} would be larger than ${this.#bytesMax} bytes.`);
  }
}
