import type { Table } from './table.ts';

/** By which policies a tenant goes, and what came of checking them. */
export interface GovernanceTables {
  readonly policies: PolicyTable;
  readonly policy_suppressions: PolicySuppressionTable;
  readonly drift_results: DriftResultTable;
  readonly governance_taints: GovernanceTaintTable;
}

/**
 * - `scope`   of which organisation, team or project of its layer it is; '' of all.
 * - `body`    the policy, JSON.
 * - `chars`   how long that is.
 * - `version` how often it was put.
 */
export interface PolicyTable {
  readonly layer: string;
  readonly scope: string;
  readonly id: string;
  readonly body: string;
  readonly chars: number;
  readonly author: string;
  readonly updated_at: number;
  readonly version: number;
}

/** - `role` that of the author: which policies it may suppress. */
export interface PolicySuppressionTable {
  readonly id: string;
  readonly policy_id: string;
  readonly rule_id: string | null;
  readonly message_pattern: string | null;
  readonly reason: string;
  readonly author: string;
  readonly role: string;
  readonly created_at: number;
  readonly expires_at: number;
}

/** - `body` the result, JSON. - `taint` where what was checked came from outside, JSON. */
export interface DriftResultTable {
  readonly id: string;
  readonly project: string;
  readonly checked_at: number;
  readonly body: string;
  readonly taint: string | null;
}

/** - `taint` where the policies and suppressions came from outside, JSON. */
export interface GovernanceTaintTable {
  readonly taint: string;
}

export const GOVERNANCE_TABLES: readonly Table[] = [
  {
    name: 'policies',
    columns: [
      ['layer', 'text'],
      ['scope', 'text'],
      ['id', 'text'],
      ['body', 'text'],
      ['chars', 'integer'],
      ['author', 'text'],
      ['updated_at', 'bigint'],
      ['version', 'integer'],
    ],
    key: ['layer', 'scope', 'id'],
    indexes: [['id']],
  },
  {
    name: 'policy_suppressions',
    columns: [
      ['id', 'text'],
      ['policy_id', 'text'],
      ['rule_id', 'text', 'optional'],
      ['message_pattern', 'text', 'optional'],
      ['reason', 'text'],
      ['author', 'text'],
      ['role', 'text'],
      ['created_at', 'bigint'],
      ['expires_at', 'bigint'],
    ],
    key: ['id'],
  },
  {
    name: 'drift_results',
    columns: [
      ['id', 'text'],
      ['project', 'text'],
      ['checked_at', 'bigint'],
      ['body', 'text'],
      ['taint', 'text', 'optional'],
    ],
    key: ['id'],
    indexes: [['project', 'checked_at'], ['checked_at']],
  },
  { name: 'governance_taints', columns: [['taint', 'text']], key: [] },
];
