import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { documentedMetrics } from '../../fixtures/metrics-page.ts';

const DataSource = z.object({ type: z.literal('prometheus'), uid: z.string().regex(/^\$\{datasource\}$/) });
const GridPos = z.object({ h: z.int().min(1), w: z.int().min(1), x: z.int().min(0), y: z.int().min(0) });
const Row = z.object({
  id: z.int(),
  type: z.literal('row'),
  title: z.string().min(1),
  gridPos: GridPos,
  panels: z.array(z.never()),
});
const Chart = z.object({
  id: z.int(),
  type: z.enum(['timeseries', 'stat']),
  title: z.string().min(1),
  datasource: DataSource,
  gridPos: GridPos,
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }), overrides: z.array(z.unknown()) }),
  options: z.object({}),
  targets: z
    .array(
      z.object({ refId: z.string(), datasource: DataSource, expr: z.string(), legendFormat: z.string() }),
    )
    .min(1),
});
/** What Grafana reads of a dashboard that is imported. */
const Dashboard = z.object({
  id: z.null(),
  uid: z.string().max(40),
  title: z.string().min(1),
  schemaVersion: z.int().min(36),
  time: z.object({ from: z.string(), to: z.string() }),
  templating: z.object({
    list: z.tuple([
      z.object({
        name: z.literal('datasource'),
        type: z.literal('datasource'),
        query: z.literal('prometheus'),
      }),
      ...['job', 'instance'].map((name) =>
        z.object({
          name: z.literal(name),
          type: z.literal('query'),
          datasource: DataSource,
          definition: z.string(),
        }),
      ),
    ] as const),
  }),
  panels: z.array(z.discriminatedUnion('type', [Row, Chart])),
});

const file = new URL('../../../docs/grafana/orrery.json', import.meta.url);
const dashboard = Dashboard.parse(JSON.parse(readFileSync(file, 'utf8')));
const charts = dashboard.panels.filter((panel) => panel.type !== 'row');
const queries = charts.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));

const documented = new Map(documentedMetrics().map((metric) => [metric.name, metric]));
const METRIC = /\b((?:orrery|process|nodejs)_\w+)(\{[^}]*\})?/g;
/** The metric of a series: a histogram has three. */
const metricOf = (series: string) =>
  documented.get(series) ?? documented.get(series.replace(/_(bucket|sum|count)$/, ''));

describe('The dashboard for Grafana', () => {
  it('asks for metrics that docs/metrics.md lists, and for labels that they have', () => {
    for (const { title, expr } of queries) {
      const asked = [...expr.matchAll(METRIC)];
      expect(asked.length, title).toBeGreaterThan(0);
      for (const [, series = '', matchers = ''] of asked) {
        const metric = metricOf(series);
        expect(metric, `${series} of ${title}`).toBeDefined();
        const labels = [...matchers.matchAll(/(\w+)=/g)].map(([, label]) => label);
        const known = [...(metric?.labels ?? []), 'job', 'instance'];
        expect(known, `${series} of ${title}`).toEqual(expect.arrayContaining(labels));
      }
    }
  });

  it('shows every metric of the system and the gateway', () => {
    const shown = new Set(
      queries.flatMap(({ expr }) =>
        [...expr.matchAll(METRIC)].map(([, series = '']) => metricOf(series)?.name),
      ),
    );
    const own = [...documented.keys()].filter((name) => name.startsWith('orrery_'));
    expect(own.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('takes counters as rates, and gauges as they are', () => {
    for (const { title, expr } of queries)
      for (const [, series = '', matchers = ''] of expr.matchAll(METRIC)) {
        const isRate = new RegExp(`(rate|increase)\\(${series}${escaped(matchers)}\\[`).test(expr);
        expect(isRate, `${series} of ${title}`).toBe(metricOf(series)?.type !== 'gauge');
      }
  });

  it('names every panel once, and lays none over another', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });
});

const escaped = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
