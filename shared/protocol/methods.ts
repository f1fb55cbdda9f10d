// THE TABLE of requests: method → params, result, and what it must not run beside. Router, handlers, client, schemas
// and the list in the README all come from here. What has no row in METHODS and a place in LATER is part of the protocol
// and answers `method_unavailable`.
import type * as v from 'valibot';
import * as operator from './operator.js';
import * as question from './question.js';
import * as thread from './thread.js';
import * as turn from './turn.js';
import * as workspace from './workspace.js';

/**
 * What waits for what. `thread`: one after the other for each thread, whoever asks. `daemon`: one after the other.
 * `free`: at once; reads change nothing.
 */
type Scope = 'thread' | 'daemon' | 'free';

export interface MethodRow {
  readonly params: v.GenericSchema;
  readonly result: v.GenericSchema;
  readonly scope: Scope;
}

export const METHODS = {
  'workspace/list': {
    params: workspace.workspaceListParams,
    result: workspace.workspaceListResponse,
    scope: 'free',
  },
  'workspace/default': {
    params: workspace.workspaceDefaultParams,
    result: workspace.workspaceDefaultResponse,
    scope: 'free',
  },
  'workspace/select': {
    params: workspace.workspaceSelectParams,
    result: workspace.workspaceSelectResponse,
    scope: 'free',
  },
  'thread/start': { params: thread.threadStartParams, result: thread.threadStartResponse, scope: 'thread' },
  'thread/get': { params: thread.threadGetParams, result: thread.threadGetResponse, scope: 'free' },
  'thread/tree': { params: thread.threadTreeParams, result: thread.threadTreeResponse, scope: 'free' },
  'thread/history': {
    params: thread.threadHistoryParams,
    result: thread.threadHistoryResponse,
    scope: 'free',
  },
  'thread/unsubscribe': {
    params: thread.threadUnsubscribeParams,
    result: thread.threadUnsubscribeResponse,
    scope: 'free',
  },
  'turn/start': { params: turn.turnStartParams, result: turn.turnStartResponse, scope: 'thread' },
  'turn/cancel': { params: turn.turnCancelParams, result: turn.turnCancelResponse, scope: 'thread' },
  'turn/get': { params: turn.turnGetParams, result: turn.turnGetResponse, scope: 'free' },
  'turn/items': { params: turn.turnItemsParams, result: turn.turnItemsResponse, scope: 'free' },
  'question/list': {
    params: question.questionListParams,
    result: question.questionListResponse,
    scope: 'free',
  },
  'question/answer': {
    params: question.questionAnswerParams,
    result: question.questionAnswerResponse,
    scope: 'daemon',
  },
  'operator/status': { params: operator.operatorStatusParams, result: operator.daemonStatus, scope: 'free' },
  'operator/turns': {
    params: operator.operatorTurnsParams,
    result: operator.operatorTurnsResponse,
    scope: 'free',
  },
  'operator/kill': {
    params: operator.operatorKillParams,
    result: operator.operatorKillResponse,
    scope: 'free',
  },
  'operator/pause': { params: operator.operatorPauseParams, result: operator.daemonStatus, scope: 'daemon' },
  'operator/resume': {
    params: operator.operatorResumeParams,
    result: operator.daemonStatus,
    scope: 'daemon',
  },
  'operator/drain': { params: operator.operatorDrainParams, result: operator.daemonStatus, scope: 'daemon' },
} as const satisfies Record<string, MethodRow>;

export type Method = keyof typeof METHODS;
/** What a handler gets: checked, defaults filled in. */
export type Params<M extends Method> = v.InferOutput<(typeof METHODS)[M]['params']>;
/** What a client sends. */
export type ParamsGiven<M extends Method> = v.InferInput<(typeof METHODS)[M]['params']>;
/** What a handler returns; what has a default may be left out of neither. */
export type Result<M extends Method> = v.InferOutput<(typeof METHODS)[M]['result']>;

export function isMethod(name: string): name is Method {
  return Object.hasOwn(METHODS, name);
}

/** Groups of names that clients know from the protocol, and that this daemon does not answer yet. */
export const LATER: Readonly<Record<string, readonly string[]>> = {
  workspace: ['create', 'update'],
  thread: [
    'update',
    'move',
    'timeline/page',
    'folder/create',
    'folder/move',
    'folder/delete',
    'agents_doc/get',
    'agents_doc/save',
    'agents_doc/archive',
    'agents_doc/resolve_for_thread',
  ],
  turn: ['resume', 'work/page', 'work/items/get', 'permission/request/respond'],
  voice: ['status', 'session/start', 'session/finalize', 'session/cancel'],
  provider: [
    'list',
    'models/list',
    'embedding_models/list',
    'transcription_models/list',
    'configure',
    'set_api_key',
    'delete_api_key',
  ],
  cli_runtime: [
    'list',
    'get',
    'status',
    'refresh',
    'list_models',
    'thread_binding/get',
    'thread/fork',
    'thread/compact',
    'turn/steer',
    'review/start',
    'login/start',
    'login/cancel',
    'proxy/set',
    'proxy/delete',
    'request/respond',
  ],
  settings: ['get', 'update'],
  skills: [
    'list',
    'install',
    'update',
    'uninstall',
    'pack/install',
    'pack/update',
    'pack/uninstall',
    'health',
    'upload/start',
    'upload/finish',
    'upload/abort',
    'policy/list',
    'policy/set',
  ],
  mcp: ['list', 'install', 'policy/set', 'server/restart', 'uninstall', 'server/details'],
  task: [
    'create',
    'get',
    'list',
    'tree',
    'events',
    'wait',
    'accept',
    'revise',
    'cancel',
    'reschedule',
    'detach',
    'pause',
    'resume',
    'agenda',
    'deliveries',
  ],
  memory: [
    'search',
    'get',
    'list',
    'remember',
    'forget',
    'candidates/list',
    'candidates/get',
    'candidates/decide',
    'candidates/approve',
    'candidates/reject',
    'candidates/edit_and_approve',
    'candidates/merge',
    'candidates/suppress_similar',
  ],
  artifact: [
    'capabilities',
    'list',
    'list/thread',
    'list/turn',
    'list/message',
    'get',
    'read',
    'delete',
    'restore',
    'bind',
    'upload/start',
    'upload/finish',
    'upload/abort',
    'download/start',
    'download/chunk',
    'download/finish',
    'download/abort',
  ],
};

export function comesLater(name: string): boolean {
  const slash = name.indexOf('/');
  const group = name.slice(0, slash);
  return Object.hasOwn(LATER, group) && LATER[group]?.includes(name.slice(slash + 1)) === true;
}
