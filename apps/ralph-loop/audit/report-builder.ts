import type { AuditReport, Finding, Note } from '../findings/finding.ts';
import { bySeverityThenPlace } from '../findings/severity-order.ts';

/** A report travels between threads and into a terminal: past this many findings the least severe are only counted. */
const MAX_FINDINGS = 2_000;
/** Notes of one kind that are listed one by one; the others of that kind share a note. */
const MAX_NOTES_A_KIND = 10;

/** Gathers the findings and notes of one agent, keeping memory bounded however many there are. */
export class ReportBuilder {
  #findings: Finding[] = [];
  #ids = new Set<string>();
  #findingsLeftOut = 0;
  #notes = new Map<string, { listed: Note[]; count: number }>();
  #filesSeen = 0;
  #bytesSeen = 0;

  /** The same defect reported twice (two projects that share a file) counts once. */
  add(finding: Finding): void {
    if (this.#ids.has(finding.id)) return;
    this.#ids.add(finding.id);
    this.#findings.push(finding);
    if (this.#findings.length > 2 * MAX_FINDINGS) this.#cut();
  }

  note(kind: string, reason: string, file?: string): void {
    const notes = this.#notes.get(kind) ?? { listed: [], count: 0 };
    notes.count += 1;
    if (notes.listed.length < MAX_NOTES_A_KIND) {
      notes.listed.push(file === undefined ? { kind, reason } : { kind, file, reason });
    }
    this.#notes.set(kind, notes);
  }

  saw(bytes: number): void {
    this.#filesSeen += 1;
    this.#bytesSeen += bytes;
  }

  build(): AuditReport {
    this.#cut();
    if (this.#findingsLeftOut > 0) {
      const reason = `${this.#findingsLeftOut} more findings, the least severe, are not listed`;
      this.note('findings-left-out', reason);
    }
    return {
      findings: this.#findings,
      notes: [...this.#notes].flatMap(([kind, notes]) => summarise(kind, notes)),
      filesSeen: this.#filesSeen,
      bytesSeen: this.#bytesSeen,
    };
  }

  #cut(): void {
    this.#findings.sort(bySeverityThenPlace);
    this.#findingsLeftOut += Math.max(0, this.#findings.length - MAX_FINDINGS);
    this.#findings.length = Math.min(this.#findings.length, MAX_FINDINGS);
  }
}

function summarise(kind: string, { listed, count }: { listed: Note[]; count: number }): Note[] {
  if (count <= listed.length) return listed;
  return [...listed, { kind, reason: `${count - listed.length} more like these` }];
}
