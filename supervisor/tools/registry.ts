// Which behaviour each state tool has. A tool of the catalogue that runs here and is missing here fails a test.
import { artifactCreateRun, artifactGetRun, artifactListRun } from './artifact.js';
import { finish } from './finish.js';
import { memoryDelete, memoryGet, memoryListRun, memorySetRun } from './memory.js';
import { planClear, planCreateRun, planGet, planUpdateRun } from './plan.js';
import type { StateTool } from './state-tool.js';

export const STATE_TOOLS_RUN: Readonly<Record<string, StateTool>> = {
  finish,
  'plan.create': planCreateRun,
  'plan.get': planGet,
  'plan.update': planUpdateRun,
  'plan.clear': planClear,
  'memory.get': memoryGet,
  'memory.set': memorySetRun,
  'memory.list': memoryListRun,
  'memory.delete': memoryDelete,
  'artifact.create': artifactCreateRun,
  'artifact.get': artifactGetRun,
  'artifact.list': artifactListRun,
};
