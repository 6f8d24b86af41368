import { isAside } from '../aside.ts';
import { type FileDefects, type FileScan, MAX_DEFECTS_A_FILE, scanInto } from '../file-scan.ts';
import type { AuditReport } from '../../findings/finding.ts';
import { addPlacedDefects } from '../placed-defects.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { ReportBuilder } from '../report-builder.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { checkJsonSchema } from './json-schema.ts';
import { readyToParse } from './parse-sql.ts';
import { SCHEMA_RULES } from './rules.ts';
import { SqlFacts } from './sql-facts.ts';
import { type Candidate, readSqlSchema, type SqlSchema } from './sql-schema.ts';

const SQL = /\.(sql|ddl|psql|pgsql)$/i;
const TAKES_BACK = /(^|[._/-])(down|rollback|undo|revert)([._-][^/]*)?\.sql$/i;
const JSON_FILE = /(^|\/)(?!package(-lock)?\.json$|tsconfig[^/]*$)[^/]*\.json$/i;

/** What PLUTO finds in a file as if it were alone; what other files say about its tables may take some of it back. */
export const SCHEMA_CHECK: FileScan = {
  rules: SCHEMA_RULES,
  nothing: 'there is no SQL and no JSON to look at',
  takes: (file) => ((SQL.test(file) && !TAKES_BACK.test(file)) || JSON_FILE.test(file)) && !isAside(file),
  scan: async (source) => {
    if (!SQL.test(source.file)) return checkJsonSchema(source);
    await readyToParse();
    const schema = readSqlSchema(source);
    const lacking = confirmedAlone(schema).map(({ defect }) => defect);
    return { defects: [...schema.defects, ...lacking], unparsable: schema.unparsable };
  },
};

type PlacedCandidate = Candidate & { readonly file: string };

const MAX_CANDIDATES = 50_000;
const TOO_MANY = `keys and indexes of more than ${MAX_CANDIDATES} tables and references are not looked at`;

/** PLUTO's job: schemas of databases, and of JSON. `root` is a real path. */
export async function checkSchemas(root: string, progress: ProgressCounter): Promise<AuditReport> {
  await readyToParse();
  const report = new ReportBuilder();
  const facts = new SqlFacts();
  const candidates: PlacedCandidate[] = [];
  const scan = (source: SourceText): FileDefects => {
    if (!SQL.test(source.file)) return checkJsonSchema(source);
    const schema = readSqlSchema(source);
    facts.add(schema);
    const own = confirmedAlone(schema);
    // As many as MERCURY, who has this file alone, finds again.
    const room = Math.max(0, MAX_DEFECTS_A_FILE - schema.defects.length);
    for (const one of own.slice(0, room)) {
      if (candidates.length < MAX_CANDIDATES) candidates.push({ ...one, file: source.file });
    }
    if (own.length > room)
      report.note(
        'findings-left-out',
        `${own.length - room} more tables and references here are not looked at`,
        source.file,
      );
    return { defects: schema.defects, unparsable: schema.unparsable };
  };
  await scanInto(report, root, { ...SCHEMA_CHECK, scan }, progress);
  if (candidates.length === MAX_CANDIDATES) report.note('too-many', TOO_MANY);
  const missing = candidates.filter((candidate) => facts.confirms(candidate));
  await addPlacedDefects(
    root,
    report,
    missing.map(({ defect, file }) => ({ ...defect, file })),
  );
  return report.build();
}

/** The candidates of a file that nothing in the same file makes up for. */
function confirmedAlone(schema: SqlSchema): Candidate[] {
  const facts = new SqlFacts();
  facts.add(schema);
  return schema.candidates.filter((candidate) => facts.confirms(candidate));
}
