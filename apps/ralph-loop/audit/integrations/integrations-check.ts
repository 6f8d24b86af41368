import { isAside } from '../aside.ts';
import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import type { Node } from '../syntax/node.ts';
import { isScript } from '../syntax/parse-script.ts';
import type { Scope } from '../syntax/scopes.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { checkFixedIp, checkKeyInUrl, checkPlainHttp } from './hosts.ts';
import { checkResponse } from './responses.ts';
import { INTEGRATION_RULES } from './rules.ts';
import { checkTimeout, checkUnawaited } from './timeouts.ts';
import { checkWebhook } from './webhooks.ts';

/** Words without which no rule can apply: most files need not be parsed at all. */
const WORTH_PARSING = /\bfetch\b|\baxios\b|\bhttps?\b|:\/\/|webhook|\bhost(name)?\b|[?&]\w+=\$\{/i;

/** GANYMEDE's job: how a program speaks to other services. Tests and examples may do as they like. */
export const INTEGRATIONS_CHECK: FileScan = {
  rules: INTEGRATION_RULES,
  nothing: 'there is no JavaScript or TypeScript to look at',
  takes: (file) => isScript(file) && !isAside(file),
  scan: checkIntegrations,
};

function checkIntegrations(source: SourceText): FileDefects {
  if (!WORTH_PARSING.test(source.text)) return { defects: [] };
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  const defects: Defect[] = [];
  const isPage = runsInPage(source);
  const unparsable = walkScript(source, (node, scope, ancestors) => {
    for (const defect of [
      checkResponse(node, scope, ancestors),
      checkPlainHttp(node, scope),
      checkFixedIp(node, scope),
      checkWebhook(node, scope, source),
      node.type === 'TemplateLiteral' ? checkKeyInUrl(node) : undefined,
      isPage ? undefined : checkSending(node, scope, ancestors, source),
    ]) {
      if (defect !== undefined) defects.push(defect);
    }
  });
  return { defects, unparsable };
}

/** In a page an unhandled rejection ends nothing, and its user can leave what does not answer. */
const runsInPage = ({ file, text }: SourceText): boolean =>
  /\.[jt]sx$/i.test(file) || /\b(window|document)\.|['"]use client['"]/.test(text);

function checkSending(
  node: Node,
  scope: Scope,
  ancestors: readonly Node[],
  source: SourceText,
): Defect | undefined {
  if (node.type === 'CallExpression') return checkTimeout(node, scope, ancestors, source);
  return node.type === 'ExpressionStatement' ? checkUnawaited(node, scope, source) : undefined;
}
