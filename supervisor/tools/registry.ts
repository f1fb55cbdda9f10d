// Which behaviour each state tool has. A tool of the catalogue that runs here and is missing here fails a test.
import { artifactCreate, artifactGet, artifactList } from './artifact.js';
import { contextCompact } from './context.js';
import { finish } from './finish.js';
import { memoryDelete, memoryGet, memoryList, memorySet } from './memory.js';
import { planClear, planCreate, planGet, planUpdate } from './plan.js';
import type { StateTool } from './state-tool.js';

export const STATE_TOOLS_RUN: Readonly<Record<string, StateTool>> = {
  finish,
  'plan.create': planCreate,
  'plan.get': planGet,
  'plan.update': planUpdate,
  'plan.clear': planClear,
  'memory.get': memoryGet,
  'memory.set': memorySet,
  'memory.list': memoryList,
  'memory.delete': memoryDelete,
  'artifact.create': artifactCreate,
  'artifact.get': artifactGet,
  'artifact.list': artifactList,
  'context.compact': contextCompact,
};
