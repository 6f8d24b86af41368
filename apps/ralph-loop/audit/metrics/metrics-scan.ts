import { isAside } from '../aside.ts';
import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isFunction } from '../syntax/function.ts';
import type { Node } from '../syntax/node.ts';
import { isScript } from '../syntax/parse-script.ts';
import { propertyOf } from '../syntax/properties.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { type Instrument, instrumentOf } from './instrument.ts';
import { checkLabels, checkMeasuring } from './labels.ts';
import { checkNames } from './names.ts';
import { METRIC_FILE_RULES } from './rules.ts';

const PROMETHEUS = 'prom-client';

/** The metrics that a program makes with prom-client. */
export const METRICS_SCAN: FileScan = {
  rules: METRIC_FILE_RULES,
  nothing: 'there is no JavaScript or TypeScript to look at',
  takes: (file) => isScript(file) && !isAside(file),
  scan: scanMetrics,
};

function scanMetrics(source: SourceText): FileDefects {
  if (!source.text.includes(PROMETHEUS)) return { defects: [] };
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  const defects: Defect[] = [];
  const made = new Set<string>();
  const unparsable = walkScript(source, (node, scope, ancestors) => {
    if (node.type === 'CallExpression') defects.push(...checkMeasuring(node));
    const instrument = node.type === 'NewExpression' ? instrumentOf(node, scope) : undefined;
    if (instrument === undefined) return;
    defects.push(...checkNames(instrument), ...checkLabels(instrument), ...checkBuckets(instrument));
    if (isMadeOnLoading(instrument, ancestors)) defects.push(...checkTwice(instrument, made));
  });
  return { defects, unparsable };
}

/** Names that leave open what is measured may mean seconds. */
const TIMED = /seconds|duration|latency|time|elapsed|delay|age|wait/i;

function checkBuckets({ kind, name, place, options, isOpen }: Instrument): Defect[] {
  if (kind !== 'Histogram' || isOpen || name === undefined || TIMED.test(name)) return [];
  if (propertyOf(options, 'buckets') !== undefined) return [];
  const message = `${name} has the default buckets, which are made for seconds: up to 10`;
  return [{ rule: 'metrics.buckets', offset: place.start, message }];
}

const CHOOSES = new Set([
  'IfStatement',
  'ConditionalExpression',
  'LogicalExpression',
  'SwitchStatement',
  'TryStatement',
]);

/** Whether it is surely made when its file is loaded, in the registry that all share. */
const isMadeOnLoading = ({ isOpen, options }: Instrument, ancestors: readonly Node[]): boolean =>
  !isOpen &&
  propertyOf(options, 'registers') === undefined &&
  !ancestors.some((node) => isFunction(node) || CHOOSES.has(node.type) || node.type === 'ClassBody');

function checkTwice({ name, place }: Instrument, made: Set<string>): Defect[] {
  if (name === undefined) return [];
  if (!made.has(name)) {
    made.add(name);
    return [];
  }
  const message = `A metric called ${name} is made above: prom-client refuses the second`;
  return [{ rule: 'metrics.twice', offset: place.start, message }];
}
