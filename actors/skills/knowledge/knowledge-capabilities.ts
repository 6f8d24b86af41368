import { z } from 'zod';
import { capability } from '../../../runtime/protocol/capability.ts';
import { Rule, Severity, Violation } from '../rules/rule.ts';
import { StoredName, storedText } from '../skill-text.ts';
import { CheckedProject } from './checked-project.ts';
import { Constraint } from './constraint.ts';
import { KnowledgeDocument, KnowledgeScope, KnowledgeType, Tags } from './knowledge-document.ts';
import { KnowledgeLayer } from './knowledge-layer.ts';
import { KnowledgeStatus } from './knowledge-status.ts';

const AtMs = z.int().nonnegative().describe('Unix milliseconds');
const Done = z.literal(true);
const SourceName = storedText(100);

/** The file that an item is in. */
const Source = z.strictObject({
  name: z.string(),
  path: z.string(),
  commit: z.string().optional().describe('The commit that changed the file last'),
});

const About = {
  id: z.string(),
  type: KnowledgeType,
  layer: KnowledgeLayer,
  scope: z.string(),
  title: z.string(),
  status: KnowledgeStatus,
  tags: z.array(z.string()),
  updatedAt: AtMs,
  source: Source.optional(),
};

export const knowledgeQuery = capability({
  id: 'knowledge_query',
  name: 'Query knowledge',
  description: 'Finds decisions, policies, patterns, specifications and lessons by their words',
  readOnly: true,
  input: z.strictObject({
    query: z.string().max(2_000).optional().describe('Words to look for; without, the newest come first'),
    type: KnowledgeType.optional(),
    layer: KnowledgeLayer.optional(),
    scope: KnowledgeScope.optional(),
    status: KnowledgeStatus.default('accepted'),
    tags: z.array(z.string().max(100)).max(20).optional().describe('All of them are wanted'),
    limit: z.int().min(1).max(100).default(10),
    cursor: z.string().max(1_000).optional().describe('Of the page before'),
  }),
  output: z.strictObject({
    success: Done,
    items: z.array(
      z.strictObject({ ...About, summary: z.string(), hasConstraints: z.boolean(), score: z.number() }),
    ),
    totalCount: z.int().nonnegative(),
    cursor: z.string().optional(),
  }),
});

export const knowledgeShow = capability({
  id: 'knowledge_show',
  name: 'Show knowledge',
  description: 'Shows all that there is of one item of knowledge',
  readOnly: true,
  input: z.strictObject({
    id: StoredName,
    history: z.boolean().default(false).describe('With what it said before it was changed'),
    markdown: z.boolean().default(false).describe('With the file that it is, or would be'),
  }),
  output: z.strictObject({
    success: Done,
    ...About,
    content: z.string(),
    summary: z.string().optional(),
    severity: Severity.optional(),
    constraints: z.array(Constraint),
    metadata: KnowledgeDocument.shape.metadata.unwrap(),
    supersedes: z.array(z.string()),
    supersededBy: z.array(z.string()),
    promotedFrom: z.string().optional(),
    author: z.string().optional(),
    createdAt: AtMs,
    version: z.int().positive(),
    history: z
      .array(
        z.strictObject({
          version: z.int().positive(),
          status: KnowledgeStatus,
          title: z.string(),
          content: z.string(),
          author: z.string().optional(),
          commit: z.string().optional(),
          updatedAt: AtMs,
        }),
      )
      .optional(),
    markdown: z.string().optional(),
  }),
});

export const knowledgeCheck = capability({
  id: 'knowledge_check',
  name: 'Check against knowledge',
  description:
    'Checks files, dependencies, imports and configuration against the constraints of accepted knowledge',
  readOnly: true,
  input: z.strictObject({
    ...CheckedProject.shape,
    minSeverity: Severity.default('warn').describe('Less bad violations are counted, and not listed'),
    knowledgeItemIds: z.array(StoredName).min(1).max(200).optional(),
    layer: KnowledgeLayer.optional().describe('Only what holds in this layer: of it, and of wider ones'),
    scopes: z.array(KnowledgeScope).max(50).optional(),
  }),
  output: z.strictObject({
    passed: z.boolean().describe('Nothing blocks'),
    isValid: z.boolean().describe('Nothing is violated at all'),
    violations: z.array(
      z.strictObject({
        itemId: z.string(),
        itemTitle: z.string(),
        constraint: z.strictObject({
          operator: Rule.shape.operator,
          target: Rule.shape.target,
          value: Rule.shape.value,
        }),
        severity: Severity,
        message: z.string(),
        found: Violation.shape.found,
        location: z.strictObject({ file: z.string(), line: z.int().positive().optional() }).optional(),
      }),
    ),
    omitted: z.int().nonnegative().describe('How many violations more there are than are listed'),
    summary: z.strictObject({ info: z.int(), warn: z.int(), block: z.int() }),
    checkedItems: z.int().nonnegative(),
  }),
});

const Changed = z.strictObject({
  success: Done,
  id: z.string(),
  status: KnowledgeStatus,
  layer: KnowledgeLayer,
  scope: z.string(),
  message: z.string(),
});

const { title, content, summary, severity, supersedes, constraints, metadata } = KnowledgeDocument.shape;

export const knowledgeAdd = capability({
  id: 'knowledge_add',
  name: 'Add knowledge',
  description: 'Keeps a decision, a policy, a pattern, a specification or a lesson',
  input: z.strictObject({
    type: KnowledgeType,
    title,
    content: content.unwrap(),
    layer: KnowledgeLayer.default('project'),
    scope: KnowledgeScope.default(''),
    status: KnowledgeStatus.default('draft'),
    tags: Tags.default([]),
    summary,
    severity,
    constraints,
    supersedes,
    metadata,
  }),
  output: Changed,
});

export const knowledgeStatus = capability({
  id: 'knowledge_status',
  name: 'Decide on knowledge',
  description: 'Proposes, accepts, rejects, deprecates or supersedes an item of knowledge',
  input: z.strictObject({ id: StoredName, status: KnowledgeStatus }),
  output: Changed,
});

export const knowledgePromote = capability({
  id: 'knowledge_promote',
  name: 'Promote knowledge',
  description: 'Has what is accepted in one layer hold in a wider one',
  input: z.strictObject({
    id: StoredName,
    toLayer: KnowledgeLayer,
    scope: KnowledgeScope.default('').describe('Which team or organisation'),
  }),
  output: z.strictObject({ ...Changed.shape, promotedFrom: z.string() }),
});

export const knowledgeRemove = capability({
  id: 'knowledge_remove',
  name: 'Remove knowledge',
  description: 'Removes an item of knowledge, and what it said before',
  destructive: true,
  input: z.strictObject({ id: StoredName }),
  output: z.strictObject({ success: Done, id: z.string(), message: z.string() }),
});

export const knowledgeSync = capability({
  id: 'knowledge_sync',
  name: 'Read knowledge from its source',
  description: 'Brings knowledge up to the files of a folder or git repository that the deployment names',
  idempotent: true,
  input: z.strictObject({ source: SourceName.optional() }),
  output: z.strictObject({
    success: Done,
    source: z.string(),
    added: z.int().nonnegative(),
    changed: z.int().nonnegative(),
    removed: z.int().nonnegative(),
    unchanged: z.int().nonnegative(),
    faults: z.array(z.strictObject({ file: z.string(), message: z.string() })),
    faultCount: z.int().nonnegative(),
    commit: z.string().optional(),
  }),
});
