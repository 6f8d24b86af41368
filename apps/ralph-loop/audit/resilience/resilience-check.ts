import { isAside } from '../aside.ts';
import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import type { Node } from '../syntax/node.ts';
import { isScript } from '../syntax/parse-script.ts';
import type { Scope } from '../syntax/scopes.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { isUnboundedFanOut } from './fan-out.ts';
import { checkRetryLoop } from './retry-loops.ts';
import { RESILIENCE_RULES } from './rules.ts';
import { isSelfRetry } from './self-retry.ts';
import { survivesUncaught } from './uncaught.ts';
import { UnheardErrors } from './unheard-errors.ts';

/** Words without which no rule can apply: most files need not be parsed at all. */
const WORTH_PARSING =
  /\bcatch\b|Promise\s*\.\s*all|uncaughtException|child_process|worker_threads|createServer|\b(?:fs|net|tls|https?|http2|ws)['"]|WebSocketServer/;

/** MIMAS' job: what fails badly. Tests, examples and benchmarks may fail as they like. */
export const RESILIENCE_CHECK: FileScan = {
  rules: RESILIENCE_RULES,
  nothing: 'there is no JavaScript or TypeScript to look at, tests and examples aside',
  takes: (file) => isScript(file) && !isAside(file),
  scan: checkResilience,
};

function checkResilience(source: SourceText): FileDefects {
  if (!WORTH_PARSING.test(source.text)) return { defects: [] };
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  const defects: Defect[] = [];
  const unheard = new UnheardErrors(source.text);
  const unparsable = walkScript(source, (node, scope, ancestors) => {
    for (const rule of check(node, scope, ancestors)) defects.push({ rule, offset: node.start });
    unheard.visit(node, scope, ancestors);
  });
  return unparsable === undefined
    ? { defects: [...defects, ...unheard.defects()] }
    : { defects: [], unparsable };
}

function check(node: Node, scope: Scope, ancestors: readonly Node[]): string[] {
  if (node.type === 'CatchClause') {
    return isSelfRetry(node, ancestors) ? ['resilience.endless-retry'] : [];
  }
  if (node.type !== 'CallExpression') return checkRetryLoop(node, scope);
  if (isUnboundedFanOut(node, scope)) return ['resilience.unbounded-fan-out'];
  return survivesUncaught(node, scope) ? ['resilience.survives-uncaught'] : [];
}
