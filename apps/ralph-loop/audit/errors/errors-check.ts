import { isAside } from '../aside.ts';
import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isScript } from '../syntax/parse-script.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { checkTry } from './catches.ts';
import { checkCatchCall, checkExecutor, checkRejection, type Rejecter } from './promises.ts';
import { ERROR_RULES } from './rules.ts';
import { checkFinally, checkThrow } from './thrown.ts';

/** Words without which no rule can apply: most files need not be parsed at all. */
const WORTH_PARSING = /\b(catch|throw|finally|reject|Promise)\b/;

/** CHARON's job: errors that are dropped, disguised or say nothing. Tests may do as they like. */
export const ERRORS_CHECK: FileScan = {
  rules: ERROR_RULES,
  nothing: 'there is no JavaScript or TypeScript to look at',
  takes: (file) => isScript(file) && !isAside(file),
  scan: checkErrors,
};

function checkErrors(source: SourceText): FileDefects {
  if (!WORTH_PARSING.test(source.text)) return { defects: [] };
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  const defects: (Defect | undefined)[] = [];
  const rejecters: Rejecter[] = [];
  const executors = new Map<unknown, string>();
  const unparsable = walkScript(source, (node, scope, ancestors) => {
    const reject = executors.get(node);
    if (reject !== undefined) rejecters.push({ name: reject, scope });
    switch (node.type) {
      case 'TryStatement':
        defects.push(checkTry(node, ancestors, source));
        if (node.finalizer !== null) defects.push(...checkFinally(node.finalizer));
        break;
      case 'ThrowStatement':
        defects.push(checkThrow(node, scope));
        break;
      case 'CallExpression':
        defects.push(checkCatchCall(node, ancestors, source), checkRejection(node, scope, rejecters));
        break;
      case 'NewExpression': {
        const found = checkExecutor(node, scope);
        if (found === undefined) break;
        if ('defect' in found) defects.push(found.defect);
        else executors.set(found.executor, found.reject);
        break;
      }
    }
  });
  return { defects: defects.filter((defect) => defect !== undefined), unparsable };
}
