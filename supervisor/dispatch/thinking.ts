// Puts together what asks models beside a turn: the look before it, the search for it, the tools within it. Whoever
// composes a supervisor hands in the parts that all turns share.
import type { Config } from '../../config/schema.js';
import { newId } from '../../shared/ids.js';
import type { SecuritySnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { Masker } from '../../shared/mask.js';
import { type BeforeParts, beforeTurn } from '../context/before-turn.js';
import { Knowledge } from '../context/knowledge.js';
import { Preflight } from '../context/preflight.js';
import type { Thinker, ThinkRequest } from '../context/thinker.js';
import { decideOn, type RoleKind, type ThoughtTool, thinkAbout } from '../context/thoughts.js';
import type { AnyModel, ModelCatalogue } from '../intelligence/model-catalogue.js';
import type { ArrangedModel } from '../intelligence/model-memory.js';
import type { LogEvent, LogLevel } from '../observe/log-events.js';
import type { WarmPool } from '../processes/types.js';
import { transcriptSlice } from '../snapshot/transcript-slice.js';
import { planCreate } from '../tools/plan.js';
import { thoughtTool } from '../tools/thought.js';
import type { WaitingTool } from '../tools/waiting-tool.js';
import { searchChild } from './search-child.js';
import { makeThinker, type ThinkPool } from './think-child.js';
import type { ThinkModel } from './think-snapshot.js';
import type { BudgetPorts } from './turn-budget.js';

export interface ThinkingParts extends Omit<BudgetPorts, 'log'> {
  readonly config: Config;
  readonly pool: WarmPool;
  readonly masker: Masker;
  readonly catalogue: Pick<ModelCatalogue, 'modelFor' | 'routes' | 'route'>;
  readonly secrets: readonly string[];
  readonly security: SecuritySnapshot;
  readonly workspaceRoot: string;
  /** What is sent to a model that is asked now, and who goes on in its place. */
  arrange(model: AnyModel): ArrangedModel;
  optionRefused(model: string, option: string): void;
  endpoint?(url: string, works: boolean): void;
  log(level: LogLevel, event: LogEvent, fields: Record<string, unknown>): void;
}

export interface Thinking {
  readonly thinker: ThinkPool;
  /** The tools that wait for another model, by name. */
  readonly tools: Readonly<Record<'think' | 'decide', WaitingTool>>;
  before(fold: BeforeParts['fold']): ReturnType<typeof beforeTurn>;
}

export function makeThinking(parts: ThinkingParts): Thinking {
  const thinker = makeThinker({
    ...parts,
    scene: {
      instance: parts.config.agent.name,
      workspaceRoot: parts.workspaceRoot,
      security: parts.security,
      budgetAdmission: parts.governor.active,
    },
    modelFor: (purpose) => modelFor(parts, purpose),
    log: (event, fields) => parts.log('warn', event, fields),
  });
  const preflight = preflightOf(parts, thinker);
  const knowledge = new Knowledge({
    config: parts.config.knowledge,
    store: parts.store,
    search: searchChild(parts),
    log: (event, fields) => parts.log(event === 'knowledge.failed' ? 'warn' : 'info', event, fields),
  });
  return {
    thinker,
    tools: { think: toolOf(parts, thinker, thinkAbout), decide: toolOf(parts, thinker, decideOn) },
    before: (fold) => beforeTurn({ preflight, knowledge, fold }),
  };
}

function modelFor(
  { catalogue, arrange, secrets }: ThinkingParts,
  purpose: ThinkRequest['purpose'],
): ThinkModel {
  const { settings, fallbacks, credentials } = arrange(catalogue.modelFor(purpose));
  return { settings, fallbacks, credentials: { ...credentials, mask: [...secrets] } };
}

function kindOf({ catalogue }: ThinkingParts, role: 'preflight' | 'think' | 'decide'): RoleKind {
  const { dialect } = catalogue.modelFor(role).settings;
  if (dialect === 'builtin') return 'nobody';
  return dialect === 'decision' ? 'decision' : 'chat';
}

function preflightOf(parts: ThinkingParts, thinker: Thinker): Preflight {
  const { config, store, clock, catalogue, live } = parts;
  return new Preflight({
    mode: config.agent.preflight,
    confidence: config.intelligence.confidence.preflight,
    store,
    clock,
    thinker,
    live,
    answers: () => kindOf(parts, 'preflight'),
    routes: () => catalogue.routes,
    route: (name) => catalogue.route(name),
    earlier: ({ threadId, turnId }) => transcriptSlice(store, threadId, turnId).slice(0, -1),
    seedPlan: ({ threadId, turnId }, goal, steps, nowMs) => {
      const items = steps.map(({ title, detail }) => (detail === '' ? { title } : { title, detail }));
      planCreate({ goal, items }, { store, threadId, turnId, nowMs, newId });
    },
    seesAll: (principal) => principal === 'operator' || principal === '',
    log: (event, fields) => parts.log(event === 'preflight.failed' ? 'warn' : 'info', event, fields),
  });
}

function toolOf(parts: ThinkingParts, thinker: Thinker, run: ThoughtTool): WaitingTool {
  const { store, config } = parts;
  const ports = {
    thinker,
    confidence: config.intelligence.confidence.decide,
    kindOf: (role: 'think' | 'decide') => kindOf(parts, role),
  };
  return thoughtTool(({ turn_id: turnId, thread_id: threadId, subject }, signal) => {
    const principal = store.inbox.ofTurn(turnId)?.principal ?? '';
    return run(ports, { turnId, threadId, principal }, subject, signal);
  });
}
