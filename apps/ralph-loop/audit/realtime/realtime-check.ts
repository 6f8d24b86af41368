import { isAside } from '../aside.ts';
import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isFunction } from '../syntax/function.ts';
import type { Node, NodeOf } from '../syntax/node.ts';
import { isScript } from '../syntax/parse-script.ts';
import type { Scope } from '../syntax/scopes.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { dropsInterval } from './intervals.ts';
import { unguardedParsing } from './messages.ts';
import { leaksOf, uncleanEffect, uncleanMethods } from './mount-hooks.ts';
import { reconnectsAtOnce } from './reconnects.ts';
import { removesNothing } from './removals.ts';
import { startedInRendering } from './rendering.ts';
import { REALTIME_RULES } from './rules.ts';
import { UnwatchedSockets } from './unwatched-sockets.ts';

/** Words without which no rule can apply: most files need not be parsed at all. */
const WORTH_PARSING =
  /addEventListener|setInterval|subscribe|removeListener|WebSocket|EventSource|\.(on|once|off|addListener)\(/;

/** TITAN's job: subscriptions, intervals and sockets that nobody ends or watches. Tests may do as they like. */
export const REALTIME_CHECK: FileScan = {
  rules: REALTIME_RULES,
  nothing: 'there is no JavaScript or TypeScript to look at',
  takes: (file) => isScript(file) && !isAside(file),
  scan: checkRealtime,
};

function checkRealtime(source: SourceText): FileDefects {
  if (!WORTH_PARSING.test(source.text)) return { defects: [] };
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  const defects: Defect[] = [];
  const sockets = new UnwatchedSockets();
  const unparsable = walkScript(source, (node, scope, ancestors) => {
    sockets.visit(node, scope, ancestors);
    defects.push(...check(node, scope, ancestors, source));
  });
  if (unparsable !== undefined) return { defects: [], unparsable };
  return { defects: [...defects, ...sockets.defects] };
}

function check(node: Node, scope: Scope, ancestors: readonly Node[], source: SourceText): readonly Defect[] {
  switch (node.type) {
    case 'CallExpression':
      return checkCall(node, scope, ancestors, source);
    case 'NewExpression':
      return checkRendering(node, scope, ancestors);
    case 'ClassBody':
      return uncleanMethods(node).flatMap((method) => leaksOf(method, scope, source));
    case 'ExpressionStatement': {
      const isDropped = dropsInterval(node, scope, ancestors, source.text);
      return isDropped ? [{ rule: 'realtime.interval-dropped', offset: node.start }] : NONE;
    }
    default: {
      const again = isFunction(node) ? reconnectsAtOnce(node, scope, ancestors) : undefined;
      return again === undefined ? NONE : [{ rule: 'realtime.reconnect-at-once', offset: again.start }];
    }
  }
}

const NONE: readonly Defect[] = [];

function checkCall(
  call: NodeOf<'CallExpression'>,
  scope: Scope,
  ancestors: readonly Node[],
  source: SourceText,
): readonly Defect[] {
  const effect = uncleanEffect(call, scope, source);
  if (effect !== undefined) return leaksOf(effect, scope, source);
  if (removesNothing(call)) return [{ rule: 'realtime.removes-nothing', offset: call.start }];
  const parsed = unguardedParsing(call, scope);
  if (parsed.length > 0)
    return parsed.map(({ start }) => ({ rule: 'realtime.message-unguarded', offset: start }));
  return checkRendering(call, scope, ancestors);
}

function checkRendering(node: Node, scope: Scope, ancestors: readonly Node[]): readonly Defect[] {
  const started = startedInRendering(node, scope, ancestors);
  if (started === undefined) return NONE;
  return [
    { rule: 'realtime.in-render', offset: node.start, message: `Every rendering starts another ${started}` },
  ];
}
