// write_file: a whole file at once, unless it was changed behind the turn's back.
import { stat } from 'node:fs/promises';
import { writeFileParams } from '../../shared/tools/file-edit-tools.js';
import { checked } from './checked.js';
import { onFile } from './files/errno.js';
import { mustBeRegular } from './files/regular-file.js';
import { type Place, resolvePlace } from './files/resolve-path.js';
import { forgetSeen, noteSeen, seenStamp, stampOf } from './files/seen-files.js';
import { makeParents, writeWhole } from './files/staged-write.js';
import { ToolFailure } from './files/tool-failure.js';

export const writeFile = checked(writeFileParams, async (params, context) => {
  const { limits, processMarker, workspaceRoot } = context;
  const bytes = Buffer.from(params.content, 'utf8');
  if (bytes.length > limits.file_bytes)
    throw new ToolFailure(
      `The content has ${bytes.length} bytes; a file may have ${limits.file_bytes}. Write it in parts.`,
    );
  const place = await resolvePlace(workspaceRoot, params.path);
  const { real, shown } = place;
  if (params.path.endsWith('/')) throw new ToolFailure(`${shown}/ names a folder; give the path of a file.`);
  mustBeWhatWasSeen(place, processMarker);
  const before = place.exists ? await onFile(shown, () => stat(real, { bigint: true })) : null;
  if (before !== null) {
    mustBeRegular(await onFile(shown, () => stat(real)), shown);
    if (!params.overwrite)
      throw new ToolFailure(`${shown} exists already, and overwrite is false; nothing was written.`);
    const seen = seenStamp(processMarker, real);
    if (seen !== undefined && seen !== stampOf(before))
      throw new ToolFailure(
        `${shown} was changed since this turn last saw it; nothing was written. Read it again.`,
        {
          code: 'changed',
        },
      );
  } else if (params.create_parents) await makeParents(real, shown);
  await writeWhole({ real, shown, bytes, expected: before === null ? 'absent' : 'anything' });
  noteSeen(processMarker, real, stampOf(await stat(real, { bigint: true })));
  return {
    content: {
      path: shown,
      ...(place.isLink ? { link_to: real } : {}),
      bytes: bytes.length,
      created: before === null,
      ...(before === null ? {} : { bytes_before: Number(before.size) }),
    },
    is_error: false,
  };
});

/** A file that the turn knows and that is gone by now, or has a link in its place, is somebody's change as well. */
function mustBeWhatWasSeen({ path, real, shown, exists }: Place, processMarker: string): void {
  const moved = path !== real && seenStamp(processMarker, path) !== undefined;
  const gone = !exists && seenStamp(processMarker, real) !== undefined;
  if (!moved && !gone) return;
  // Said once: what the turn does with this knowledge is its own decision.
  forgetSeen(processMarker, moved ? path : real);
  const what = moved ? `became a link to ${real}` : 'was deleted';
  throw new ToolFailure(
    `${shown} ${what} since this turn last saw it; nothing was written. Look again, or write it once more if that is meant.`,
    { code: 'changed' },
  );
}
