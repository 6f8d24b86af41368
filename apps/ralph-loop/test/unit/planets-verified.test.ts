import fc from 'fast-check';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACCESSIBILITY_CHECK } from '../../audit/accessibility/accessibility-check.ts';
import { checkDependencies } from '../../audit/dependencies/dependencies-check.ts';
import { auditDocs } from '../../audit/docs/audit-docs.ts';
import { DOCS_CHECK } from '../../audit/docs/docs-check.ts';
import { ERRORS_CHECK } from '../../audit/errors/errors-check.ts';
import { findingId, sha256 } from '../../audit/evidence.ts';
import { type FileScan, scanFiles } from '../../audit/file-scan.ts';
import type { Finding } from '../../audit/finding.ts';
import { collectIdeas } from '../../audit/ideas/collect-ideas.ts';
import { IDEAS_CHECK } from '../../audit/ideas/ideas-check.ts';
import { INTEGRATIONS_CHECK } from '../../audit/integrations/integrations-check.ts';
import { MemoryRelief } from '../../audit/memory-relief.ts';
import { checkMetrics } from '../../audit/metrics/metrics-check.ts';
import { METRICS_SCAN } from '../../audit/metrics/metrics-scan.ts';
import { auditPerformance } from '../../audit/performance/audit-performance.ts';
import { PERFORMANCE_CHECK } from '../../audit/performance/performance-check.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { REALTIME_CHECK } from '../../audit/realtime/realtime-check.ts';
import { RELEASE_CHECK } from '../../audit/release/release-check.ts';
import { RESILIENCE_CHECK } from '../../audit/resilience/resilience-check.ts';
import { RESPONSIVE_CHECK } from '../../audit/responsive/responsive-check.ts';
import { checkSchemas, SCHEMA_CHECK } from '../../audit/schemas/schema-check.ts';
import { SourceText } from '../../audit/source-text.ts';
import { checkSpecs, SPECS_CHECK } from '../../audit/specs/specs-check.ts';
import { TESTS_CHECK } from '../../audit/test-quality/tests-check.ts';
import { verifyFindings } from '../../audit/verify-findings.ts';
import { copyOfFixture, fixturePath } from './fixture.ts';

async function verify(root: string, findings: readonly Finding[]) {
  using memory = new MemoryRelief();
  return await verifyFindings(root, findings, { progress: new ProgressCounter(), memory });
}

const SCANS: readonly (readonly [planet: string, scan: FileScan])[] = [
  ['charon', ERRORS_CHECK],
  ['ganymede', INTEGRATIONS_CHECK],
  ['neptune', METRICS_SCAN],
  ['europa', RESPONSIVE_CHECK],
  ['mimas', RESILIENCE_CHECK],
  ['io', PERFORMANCE_CHECK],
  ['triton', RELEASE_CHECK],
  ['callisto', DOCS_CHECK],
  ['andromeda', IDEAS_CHECK],
  ['earth', SPECS_CHECK],
  ['venus', ACCESSIBILITY_CHECK],
  ['pluto', SCHEMA_CHECK],
  ['saturn', TESTS_CHECK],
  ['titan', REALTIME_CHECK],
];

const scanned = async (root: string, scan: FileScan) =>
  (await scanFiles(root, scan, new ProgressCounter())).findings;

describe('MERCURY and the planets that look at files one by one', () => {
  it.each(SCANS)('approves what %s really found', async (planet, scan) => {
    using repo = copyOfFixture(planet);
    const findings = await scanned(repo.path, scan);
    expect(findings.length).toBeGreaterThan(10);
    expect(await verify(repo.path, findings)).toMatchObject({ verdict: 'APPROVED', approved: findings });
  });

  it.each(SCANS)('refuses a finding of %s that is moved to another line', async (planet, scan) => {
    using repo = copyOfFixture(planet);
    const moved = (await scanned(repo.path, scan)).flatMap((finding) => movedToFirstLine(repo.path, finding));
    expect(moved.length).toBeGreaterThan(5);
    const { rejected } = await verify(repo.path, moved);
    expect(rejected.map(({ reason }) => reason)).toEqual(
      rejected.map(({ finding }) => `line 1 holds nothing of ${finding.rule}`),
    );
    expect(rejected).toHaveLength(moved.length);
  });

  it.each(SCANS)('refuses what %s found and somebody has mended', async (planet, scan) => {
    using repo = copyOfFixture(planet);
    const findings = await scanned(repo.path, scan);
    for (const { file } of findings) writeFileSync(join(repo.path, file), '\n');
    expect(await verify(repo.path, findings)).toMatchObject({ verdict: 'REJECTED', approved: [] });
  });

  it.each(SCANS)('survives whatever half-written files %s is given', async (planet, scan) => {
    const texts = textsOf(planet, scan);
    const spliced = fc.record({
      text: fc.constantFrom(...texts),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat(40),
      pasted: fc.constantFrom('', '{', '}', '`${', '</', '<a ', ')', '"', '\n', ' catch ', '\u2028', '😀'),
    });
    await fc.assert(
      fc.asyncProperty(spliced, async ({ text: { file, text }, at, cut, pasted }) => {
        const start = Math.floor(at * text.length);
        const source = new SourceText(file, text.slice(0, start) + pasted + text.slice(start + cut));
        const { defects } = await scan.scan(source, fixturePath(planet));
        for (const { rule, offset } of defects) {
          expect(Object.hasOwn(scan.rules, rule)).toBe(true);
          expect(offset).toBeLessThanOrEqual(source.text.length);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('MERCURY and the planets that look at a repository as a whole', () => {
  it.each([
    ['uranus', checkDependencies],
    ['neptune', checkMetrics],
    ['io', auditPerformance],
    ['callisto', auditDocs],
    ['andromeda', collectIdeas],
    ['earth', checkSpecs],
    ['pluto', checkSchemas],
  ])('approves what %s really found, and refuses what somebody has mended', async (planet, check) => {
    using repo = copyOfFixture(planet);
    const { findings } = await check(repo.path, new ProgressCounter());
    expect(findings.length).toBeGreaterThan(10);
    expect(await verify(repo.path, findings)).toMatchObject({ verdict: 'APPROVED', approved: findings });
    for (const { file } of findings) writeFileSync(join(repo.path, file), '\n');
    expect(await verify(repo.path, findings)).toMatchObject({ verdict: 'REJECTED', approved: [] });
  });
});

describe('MERCURY and findings that follow from several files', () => {
  it.each([
    ['uranus', checkDependencies, 'dependencies.'],
    ['neptune', checkMetrics, 'metrics.console-log'],
    ['earth', checkSpecs, 'specs.undefined-id'],
    ['pluto', checkSchemas, 'schema.'],
    ['callisto', auditDocs, 'docs.unknown-script'],
    ['andromeda', collectIdeas, 'ideas.deprecated-use'],
  ])('refuses what %s did not find, though all else about it is true', async (planet, check, rules) => {
    using repo = copyOfFixture(planet);
    const { findings } = await check(repo.path, new ProgressCounter());
    const moved = findings
      .filter(({ rule }) => rule.startsWith(rules))
      .flatMap((finding) => movedToFirstLine(repo.path, finding));
    expect(moved.length).toBeGreaterThan(2);
    const { rejected } = await verify(repo.path, moved);
    expect(rejected.map(({ finding: { id } }) => id).sort()).toEqual(moved.map(({ id }) => id).sort());
    for (const { reason, finding } of rejected)
      expect(reason).toBe(`line 1 holds nothing of ${finding.rule}`);
  });
});

/** The finding at the first line of its file, with everything about it true but that it is there. */
function movedToFirstLine(root: string, finding: Finding): Finding[] {
  const line = readFileSync(join(root, finding.file), 'utf8').split('\n')[0] ?? '';
  if (finding.line === 1 || line.trim() === '') return [];
  const moved = { ...finding, line: 1, column: 1, evidence: line.trim(), lineSha256: sha256(line) };
  return [{ ...moved, id: findingId(moved) }];
}

const textsOf = (planet: string, { takes }: FileScan): { file: string; text: string }[] =>
  readdirSync(fixturePath(planet), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(fixturePath(planet).length + 1))
    .filter((file) => takes(file))
    .map((file) => ({ file, text: readFileSync(join(fixturePath(planet), file), 'utf8') }));
