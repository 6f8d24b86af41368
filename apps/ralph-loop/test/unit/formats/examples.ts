/** Lists of tasks as other tools write them. */
export const PRD_JSON = `{
  "project": "Shop",
  "branchName": "ralph/checkout",
  "description": "A checkout that people finish",
  "userStories": [
    {
      "id": "US-001",
      "title": "The cart knows its total",
      "description": "As a buyer I see what I pay.",
      "acceptanceCriteria": ["An empty cart costs nothing", "Typecheck passes"],
      "priority": 1,
      "passes": true,
      "notes": ""
    },
    {
      "id": "US-002",
      "title": "The page shows the total",
      "acceptanceCriteria": ["The total is below the items"],
      "priority": 2,
      "passes": false,
      "notes": "Use the component of the design",
      "labels": ["ui"],
      "dependsOn": ["US-001"],
      "owner": { "name": "Ada" }
    },
    { "id": 3, "title": "Taxes", "priority": 3, "dependsOn": ["US-002"] }
  ]
}
`;

export const TASKS_JSON = `{
  "master": {
    "tasks": [
      { "id": 1, "title": "Schema", "status": "done", "dependencies": [], "priority": "high" },
      {
        "id": 2,
        "title": "Server",
        "description": "HTTP routes",
        "details": "One file a route.",
        "testStrategy": "Each route answers.",
        "status": "in-progress",
        "dependencies": [1],
        "priority": "medium",
        "subtasks": [
          { "id": 1, "title": "List", "status": "done", "dependencies": [] },
          { "id": 2, "title": "Create", "status": "pending", "dependencies": [1] },
          { "id": 3, "title": "Delete", "status": "pending", "dependencies": [2, "1"] }
        ]
      },
      { "id": 4, "title": "Mail", "status": "deferred", "dependencies": ["2"], "priority": "low" },
      { "id": 5, "title": "Mail page", "status": "pending", "dependencies": ["4"] }
    ],
    "metadata": { "created": "2026-01-01" }
  },
  "docs": { "tasks": [{ "id": 1, "title": "Manual", "status": "pending" }] }
}
`;

export const FIX_PLAN = `# Fix plan

## High Priority
- [x] Parse dates
- [ ] Parse times
  with zones
  - keep the old format
  - [ ] Zones with names
- [ ] Parse times of day

\`\`\`
- [ ] this is an example
\`\`\`

## Notes
- a plain item
`;

export const SPEC_KIT = `# Tasks: Sign in

## Phase 1: Setup
- [x] T001 Create the project
- [ ] T002 Install \`hono\`

## Phase 3: User Story 1
- [ ] T003 [P] [US1] Model in src/user.ts
- [ ] T004 [P] [US1] Page in src/page.ts
- [ ] T005 [US1] Service in src/service.ts
- [ ] T006 Polish
`;

export const OPEN_SPEC = `## 1. Implementation
- [ ] 1.1 Create the schema
- [ ] 1.2 Add the route
## 2. Tests
- [ ] 2.1 Write tests
`;
