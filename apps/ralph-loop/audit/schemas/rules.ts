import { rulesOf } from '../rule.ts';

/** What PLUTO looks for. */
export const SCHEMA_RULES = rulesOf('pluto', {
  'schema.no-primary-key': ['medium', 'The table has neither a primary key nor another unique one'],
  'schema.foreign-key-without-index': [
    'low',
    'No index begins with a column of the foreign key: deleting what it refers to reads the whole table',
  ],
  'schema.duplicate-table': ['medium', 'The table is created twice'],
  'schema.duplicate-column': ['medium', 'The table has a column of that name already'],
  'schema.duplicate-index': ['low', 'Another index has the same columns'],
  'schema.not-null-without-default': [
    'medium',
    'A column that must have a value is added without one: this fails as soon as the table has rows',
  ],
  'schema.select-star-view': ['low', 'The view takes every column that its tables happen to have'],
  'schema.not-json': ['medium', 'The JSON Schema is no JSON'],
  'schema.not-a-schema': ['medium', 'The JSON Schema breaks the rules of its own draft'],
  'schema.dangling-ref': ['medium', 'A reference leads to nothing in the schema'],
  'schema.impossible-required': [
    'medium',
    'A required property is not among those that are allowed: nothing can ever be valid',
  ],
});
