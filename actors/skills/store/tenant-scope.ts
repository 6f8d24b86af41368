import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  type ColumnUpdateNode,
  type DeleteQueryNode,
  IdentifierNode,
  type InsertQueryNode,
  type JoinNode,
  type KyselyPlugin,
  OnNode,
  type OnConflictNode,
  type OperationNode,
  OperationNodeTransformer,
  OperatorNode,
  ParensNode,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  PrimitiveValueListNode,
  type QueryId,
  type QueryResult,
  type RawNode,
  ReferenceNode,
  type RootOperationNode,
  type SelectQueryNode,
  TableNode,
  type UnknownRow,
  type UpdateQueryNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
  WhereNode,
} from 'kysely';

/** The column of every table that says whose a row is. */
export const TENANT = 'tenant';

/**
 * Confines every query to one tenant: what is read, changed and removed is of that tenant, and what is inserted becomes its. What
 * cannot be confined so (SQL as text, common table expressions, unions, `tenant` named by the query itself) throws.
 */
export class TenantScope implements KyselyPlugin {
  readonly #confine: Confinement;

  constructor(tenant: string) {
    this.#confine = new Confinement(tenant);
  }

  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    if (!CONFINED.has(node.kind)) throw unconfined(node.kind);
    return this.#confine.transformNode(node, queryId);
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result;
  }
}

const CONFINED: ReadonlySet<string> = new Set([
  'SelectQueryNode',
  'InsertQueryNode',
  'UpdateQueryNode',
  'DeleteQueryNode',
]);

const ORDERS: ReadonlySet<string> = new Set(['asc', 'desc']);

const unconfined = (what: string): Error => new Error(`A query cannot be confined to its tenant: ${what}`);

class Confinement extends OperationNodeTransformer {
  readonly #tenant: string;

  constructor(tenant: string) {
    super();
    this.#tenant = tenant;
  }

  protected override transformRaw(node: RawNode): RawNode {
    const { sqlFragments, parameters } = node;
    // Kysely's own way to say which way to order.
    if (parameters.length === 0 && ORDERS.has(sqlFragments.join(''))) return node;
    throw unconfined('it has SQL as text');
  }

  protected override transformWith(): never {
    throw unconfined('it has a common table expression');
  }

  protected override transformSetOperation(): never {
    throw unconfined('it joins the rows of two queries');
  }

  protected override transformMergeQuery(): never {
    throw unconfined('it merges');
  }

  protected override transformUsing(): never {
    throw unconfined('it deletes by another table');
  }

  protected override transformSelectQuery(node: SelectQueryNode, queryId?: QueryId): SelectQueryNode {
    const select = super.transformSelectQuery(node, queryId);
    return { ...select, ...this.#where(select.where, select.from?.froms ?? []) };
  }

  protected override transformJoin(node: JoinNode, queryId?: QueryId): JoinNode {
    const join = super.transformJoin(node, queryId);
    const [condition] = this.#conditions([join.table]);
    if (condition === undefined) return join;
    return { ...join, on: OnNode.create(and(join.on?.on, condition)) };
  }

  protected override transformUpdateQuery(node: UpdateQueryNode, queryId?: QueryId): UpdateQueryNode {
    if (node.from !== undefined || node.table === undefined) throw unconfined('it updates by another table');
    const update = super.transformUpdateQuery(node, queryId);
    return { ...update, ...this.#where(update.where, [node.table]) };
  }

  protected override transformDeleteQuery(node: DeleteQueryNode, queryId?: QueryId): DeleteQueryNode {
    const deletion = super.transformDeleteQuery(node, queryId);
    return { ...deletion, ...this.#where(deletion.where, deletion.from.froms) };
  }

  protected override transformInsertQuery(node: InsertQueryNode, queryId?: QueryId): InsertQueryNode {
    const insert = super.transformInsertQuery(node, queryId);
    const { values, columns = [] } = insert;
    if (values === undefined || !ValuesNode.is(values)) throw unconfined('it inserts what it selects');
    if (columns.some(isTenant)) throw unconfined('it says itself whose a row is');
    const withTenant = values.values.map((row) =>
      PrimitiveValueListNode.is(row)
        ? PrimitiveValueListNode.create([...row.values, this.#tenant])
        : ValueListNode.create([...row.values, ValueNode.create(this.#tenant)]),
    );
    return {
      ...insert,
      columns: [...columns, ColumnNode.create(TENANT)],
      values: ValuesNode.create(withTenant),
    };
  }

  protected override transformOnConflict(node: OnConflictNode, queryId?: QueryId): OnConflictNode {
    const conflict = super.transformOnConflict(node, queryId);
    // Only a row of the same tenant can be in conflict: each key begins with it.
    if (!conflict.columns?.some(isTenant)) throw unconfined('it may be in conflict with rows of others');
    return conflict;
  }

  protected override transformColumnUpdate(node: ColumnUpdateNode, queryId?: QueryId): ColumnUpdateNode {
    if (ColumnNode.is(node.column) && isTenant(node.column)) throw unconfined('it changes whose a row is');
    return super.transformColumnUpdate(node, queryId);
  }

  #where(where: WhereNode | undefined, tables: readonly OperationNode[]): { where: WhereNode } | undefined {
    const conditions = this.#conditions(tables);
    if (conditions.length === 0) return undefined;
    const confined = conditions.reduce<OperationNode | undefined>(and, where?.where);
    return { where: WhereNode.create(confined as OperationNode) };
  }

  #conditions(tables: readonly OperationNode[]): OperationNode[] {
    return tables.flatMap((table) => {
      const name = nameOf(table);
      if (name === undefined) return [];
      const column = ReferenceNode.create(ColumnNode.create(TENANT), TableNode.create(name));
      return BinaryOperationNode.create(column, OperatorNode.create('='), ValueNode.create(this.#tenant));
    });
  }
}

/** The name under which a query knows a table; undefined for a query within it, which is confined itself. */
function nameOf(node: OperationNode): string | undefined {
  if (TableNode.is(node)) return node.table.identifier.name;
  if (!AliasNode.is(node)) throw unconfined(`it reads from ${node.kind}`);
  if (node.node.kind === 'SelectQueryNode') return undefined;
  if (!TableNode.is(node.node) || !IdentifierNode.is(node.alias))
    throw unconfined(`it reads from ${node.node.kind}`);
  return node.alias.name;
}

/** Both, each in parentheses of its own: an "or" in what a query asks does not reach around its tenant. */
function and(one: OperationNode | undefined, other: OperationNode): OperationNode {
  return one === undefined ? other : AndNode.create(ParensNode.create(one), other);
}

const isTenant = ({ column }: ColumnNode): boolean => column.name === TENANT;
