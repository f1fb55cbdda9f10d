// Tokens of each model call, one row per call.
import type { Usage } from '../../shared/transcript/usage.js';
import type { Db } from './database.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

interface Sum {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly estimated: number;
}

interface Cost {
  readonly micros: number | null;
  readonly unknown: number;
}

const SUM = `SELECT coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
  coalesce(sum(cached_tokens), 0) AS cached_tokens, coalesce(max(estimated), 0) AS estimated FROM usage`;

const COST = `SELECT sum(cost_micros) AS micros,
  coalesce(sum(cost_micros IS NULL AND input_tokens + output_tokens > 0), 0) AS unknown FROM usage`;

/** A turn, the turns of its subagents, and theirs. */
const TREE = `WITH RECURSIVE tree (turn_id) AS (
  SELECT ? UNION SELECT child.turn_id FROM tree
    JOIN turns child ON child.parent_turn_id = tree.turn_id
    JOIN threads own ON own.thread_id = child.thread_id AND own.parent_turn_id IS NOT NULL)`;

export function usageTable(db: Db): Store['usage'] {
  const sum = reading<Sum>(db, `${SUM} WHERE turn_id = ?`);
  const cost = reading<Cost>(db, `${COST} WHERE turn_id = ?`);
  const sumOfTree = reading<Sum>(db, `${TREE} ${SUM} WHERE turn_id IN tree`);
  const costOfTree = reading<Cost>(db, `${TREE} ${COST} WHERE turn_id IN tree`);
  const last = reading<{ readonly call: number }>(
    db,
    'SELECT coalesce(max(call_index), 0) AS call FROM usage WHERE turn_id = ? AND purpose = ?',
  );
  const record = writing(
    db,
    `INSERT INTO usage (turn_id, purpose, call_index, model, input_tokens, output_tokens, cached_tokens, estimated,
       at_ms, cost_micros)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (turn_id, purpose, call_index) DO UPDATE SET model = excluded.model, input_tokens = excluded.input_tokens,
       output_tokens = excluded.output_tokens, cached_tokens = excluded.cached_tokens,
       estimated = excluded.estimated, at_ms = excluded.at_ms,
       cost_micros = excluded.cost_micros`,
  );
  return {
    record: (turnId, callIndex, model, usage, nowMs, costMicros = null, purpose = 'turn') => {
      const { input_tokens, output_tokens, cached_tokens } = usage;
      const estimated = usage.estimated ? 1 : 0;
      record(
        turnId,
        purpose,
        callIndex,
        model,
        input_tokens,
        output_tokens,
        cached_tokens,
        estimated,
        nowMs,
        costMicros,
      );
    },
    lastCall: (turnId, purpose) => last.get(turnId, purpose)?.call ?? 0,
    costOf: (turnId) => known(cost.get(turnId)),
    costOfTree: (turnId) => known(costOfTree.get(turnId)),
    ofTurn: (turnId) => usageOf(sum.get(turnId)),
    ofTree: (turnId) => usageOf(sumOfTree.get(turnId)),
  };
}

function known(row: Cost | undefined): number | null {
  return row === undefined || row.unknown > 0 ? null : row.micros;
}

function usageOf(row: Sum | undefined): Usage {
  return {
    input_tokens: row?.input_tokens ?? 0,
    output_tokens: row?.output_tokens ?? 0,
    cached_tokens: row?.cached_tokens ?? 0,
    estimated: row?.estimated === 1,
  };
}
