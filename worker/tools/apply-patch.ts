// apply_patch: several files at once, all of them or none.
import { stat } from 'node:fs/promises';
import type { JsonObject } from '../../shared/json.js';
import { applyPatchParams } from '../../shared/tools/file-edit-tools.js';
import { checked } from './checked.js';
import { forgetSeen, noteSeen, stampOf } from './files/seen-files.js';
import { mustGoOn, ToolFailure } from './files/tool-failure.js';
import { carryOut } from './patch/carry-out.js';
import { parsePatch } from './patch/parse-patch.js';
import { PatchPlan } from './patch/plan-patch.js';

const REJECTIONS_MAX = 20;

export const applyPatch = checked(applyPatchParams, async ({ patch }, context) => {
  if (Buffer.byteLength(patch) > context.limits.file_bytes)
    throw new ToolFailure(`The patch is larger than ${context.limits.file_bytes} bytes; split it.`);
  const changes = parsePatch(patch);
  const plan = new PatchPlan(context.workspaceRoot, context.limits.file_bytes);
  for (const change of changes) {
    mustGoOn(context.signal);
    await plan.add(change);
  }
  if (plan.rejections.length > 0) {
    const rejections = plan.rejections.slice(0, REJECTIONS_MAX).map((one): JsonObject => ({ ...one }));
    throw new ToolFailure(
      `${plan.rejections.length} part(s) of the patch do not apply, so nothing was written. ` +
        'Read those places again and send the whole patch anew.',
      { code: 'rejected', rejections },
    );
  }
  await carryOut(plan.files);
  for (const { real, after } of plan.files) {
    const stats = after === null ? null : await stat(real, { bigint: true }).catch(() => null);
    if (stats !== null) noteSeen(context.processMarker, real, stampOf(stats));
    else forgetSeen(context.processMarker, real);
  }
  const files = plan.reports.map((report): JsonObject => ({ ...report }));
  return { content: { files }, is_error: false };
});
