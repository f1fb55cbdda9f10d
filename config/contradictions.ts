// Values that are each right and cannot be meant together. Looks at the finished configuration. Pure.
import { budgetContradictions } from './budget-contradictions.js';
import { contextContradictions } from './context-contradictions.js';
import { knowledgeContradictions } from './knowledge-contradictions.js';
import { modelContradictions } from './model-contradictions.js';
import type { Place, Problem } from './problem.js';
import type { Config } from './schema.js';

export function contradictions(config: Config, placeOf: (path: string) => Place): Problem[] {
  const problems: Problem[] = [];
  const tell = (path: string, message: string, suggestion?: string): void => {
    const more = suggestion === undefined ? {} : { suggestion };
    problems.push({ ...placeOf(path), path, message, ...more });
  };
  const { exec } = config.limits;
  if (exec.timeout_ms > exec.timeout_max_ms) {
    tell('limits.exec.timeout', 'is longer than limits.exec.timeout_max');
  }
  if (config.intelligence.dialect === 'builtin') {
    if (config.intelligence.endpoints !== null) {
      tell(
        'intelligence.endpoints',
        'the built-in model has no endpoint: remove it, or choose another dialect',
      );
    }
    if (config.intelligence.token !== null) {
      tell('intelligence.token', 'the built-in model takes no token: remove it, or choose another dialect');
    }
  }
  authContradictions(config, tell);
  if (config.limits.pong_ms >= config.limits.progress_ms) {
    tell('limits.pong', 'must be shorter than limits.progress, or no ping is ever missed in time');
  }
  for (const { path, message, suggestion } of modelContradictions(config, placeOf))
    tell(path, message, suggestion);
  for (const [path, message] of budgetContradictions(config.intelligence)) tell(path, message);
  for (const [path, message] of contextContradictions(config)) tell(path, message);
  for (const [path, message] of knowledgeContradictions(config)) tell(path, message);
  return problems;
}

function authContradictions({ intelligence }: Config, tell: (path: string, message: string) => void): void {
  const { auth, dialect, token } = intelligence;
  const given = Object.entries(auth).find(([, value]) => value !== null);
  if (given === undefined) return;
  const path = `intelligence.auth.${given[0]}`;
  if (dialect !== null && dialect !== 'bedrock')
    tell(path, `only the dialect bedrock signs requests: remove it, or choose that dialect`);
  if (token !== null) tell(path, 'stands beside intelligence.token; keep one of the two');
  if ((auth.access_key_id === null) !== (auth.secret_access_key === null))
    tell('intelligence.auth', 'access_key_id and secret_access_key belong together');
  if (auth.session_token !== null && auth.access_key_id === null)
    tell('intelligence.auth.session_token', 'belongs to an access_key_id and a secret_access_key');
}
