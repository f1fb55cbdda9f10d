// edit_file: one text of a file for another, every other byte as it was.

import { stat } from 'node:fs/promises';
import type { JsonObject } from '../../shared/json.js';
import { editFileParams } from '../../shared/tools/file-edit-tools.js';
import { checked } from './checked.js';
import { replaceText } from './edit/replace-text.js';
import { bytesWith, loadText, NEW_TEXT, type TextFile } from './edit/text-file.js';
import type { ToolContext } from './executor.js';
import { onFile } from './files/errno.js';
import { type Place, resolveExisting, resolvePlace } from './files/resolve-path.js';
import { noteSeen, stampOf } from './files/seen-files.js';
import { makeParents, writeWhole } from './files/staged-write.js';
import { unitsOfText } from './files/text-codec.js';
import { mustGoOn, ToolFailure } from './files/tool-failure.js';

export const editFile = checked(editFileParams, async (params, context) => {
  const { old_text: oldText, new_text: newText } = params;
  if (oldText === '') return await fillEmpty(params.path, newText, context);
  if (oldText === newText) throw new ToolFailure('old_text and new_text are the same; nothing would change.');
  const place = await resolveExisting(context.workspaceRoot, params.path);
  const file = await loadText(place, context.limits.file_bytes);
  const wanted = { oldText, newText, all: params.replace_all, expectedCount: params.expected_count };
  const replaced = replaceText(file, place.shown, wanted);
  const bytes = await put(place, file, replaced.units, context);
  return {
    content: { ...factsOf(place), replacements: replaced.count, lines: [...replaced.lines], bytes },
    is_error: false,
  };
});

/** An empty old_text stands for an empty file, or for one that does not exist yet. */
async function fillEmpty(
  path: string,
  text: string,
  context: ToolContext,
): Promise<{ content: JsonObject; is_error: false }> {
  const place = await resolvePlace(context.workspaceRoot, path);
  const file = place.exists ? await loadText(place, context.limits.file_bytes) : NEW_TEXT;
  if (file.units !== '')
    throw new ToolFailure(
      `old_text is empty, but ${place.shown} is not. Give the text to replace, or write the whole file with write_file.`,
    );
  const units = unitsOfText(text, file.format.encoding);
  if (units === null) throw new ToolFailure(`${place.shown} cannot hold this text.`);
  if (!place.exists) await makeParents(place.real, place.shown);
  const bytes = await put(place, file, units, context);
  return { content: { ...factsOf(place), created: !place.exists, bytes }, is_error: false };
}

async function put(place: Place, file: TextFile, units: string, context: ToolContext): Promise<number> {
  const { real, shown, exists } = place;
  const bytes = bytesWith(file, units);
  if (bytes.length > context.limits.file_bytes)
    throw new ToolFailure(
      `${shown} would have ${bytes.length} bytes; at most ${context.limits.file_bytes} are allowed.`,
    );
  mustGoOn(context.signal);
  await writeWhole({ real, shown, bytes, expected: exists ? file.bytes : 'absent' });
  noteSeen(context.processMarker, real, stampOf(await onFile(shown, () => stat(real, { bigint: true }))));
  return bytes.length;
}

function factsOf(place: Place): JsonObject {
  return { path: place.shown, ...(place.isLink ? { link_to: place.real } : {}) };
}
