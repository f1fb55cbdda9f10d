// What a subagent may do: what its parent may, and less where the parent says so. Pure.
import { SUBAGENT } from '../../shared/tools/subagent-tools.js';
import { wireNames } from '../../shared/tools/wire-names.js';

/**
 * The names of its tools. `asked`, where given, are names as people or as models see them; one that the parent does not
 * have is refused by name. `deepest`: it can start no subagents of its own, so it is not told of them.
 */
export function narrowedTools(
  ofParent: readonly string[],
  asked: readonly string[] | undefined,
  deepest: boolean,
): { readonly tools: string[] } | { readonly missing: string[] } {
  const byName = new Map(ofParent.map((name) => [name, name]));
  for (const [name, wire] of wireNames(ofParent)) byName.set(wire, name);
  const wanted = asked ?? ofParent;
  const missing = wanted.filter((name) => !byName.has(name));
  if (missing.length > 0) return { missing };
  const given = new Set(wanted.map((name) => byName.get(name)));
  return {
    tools: ofParent.filter((name) => given.has(name) && !(deepest && name.startsWith(SUBAGENT))),
  };
}
