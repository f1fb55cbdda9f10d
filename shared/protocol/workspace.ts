// Workspaces: named root folders with threads of their own.
import * as v from 'valibot';
import { givenId, named, whole } from './named.js';

export const workspace = named(
  'Workspace',
  v.object({
    id: v.string(),
    name: v.string(),
    is_active: v.boolean(),
    is_current: v.boolean(),
    created_at: v.pipe(whole, v.description('Seconds since the epoch.')),
    updated_at: whole,
  }),
);
export type Workspace = v.InferOutput<typeof workspace>;

export const workspaceListParams = named('WorkspaceListParams', v.object({}));
export const workspaceListResponse = named(
  'WorkspaceListResponse',
  v.object({ workspaces: v.optional(v.array(workspace), []) }),
);

export const workspaceDefaultParams = named('WorkspaceDefaultParams', v.object({}));
export const workspaceDefaultResponse = named('WorkspaceDefaultResponse', v.object({ workspace }));

export const workspaceSelectParams = named(
  'WorkspaceSelectParams',
  v.object({ workspace_id: givenId, make_current: v.optional(v.boolean(), false) }),
);
export const workspaceSelectResponse = named('WorkspaceSelectResponse', v.object({ workspace }));
