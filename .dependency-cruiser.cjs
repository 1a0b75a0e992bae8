// Who may import whom (README, "architecture"): only rightward in
// main → http → api, operations, console, webhook, worker → parse, citations, deployments → sources → lease → bus → db → config, log
const layers = [
  ['main'],
  ['http'],
  ['api', 'operations', 'console', 'webhook', 'worker'],
  ['parse', 'citations', 'deployments'],
  ['sources'],
  ['lease'],
  ['bus'],
  ['db'],
];

const folders = names => `^server/(${names.join('|')})/`;

/** One rule a layer: nothing from the layers to its left. */
const rightward = layers.slice(1).map((layer, index) => ({
  name: `${layer.join('-')}-imports-only-rightward`,
  severity: 'error',
  from: { path: folders(layer) },
  to: { path: folders(layers.slice(0, index + 1).flat()) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...rightward,
    { name: 'config-and-log-import-nothing-of-ours', severity: 'error', from: { path: '^server/[^/]+\\.(ts|js)$' }, to: { path: '^server/[^/]+/' } },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    { name: 'server-never-imports-app', severity: 'error', from: { path: '^server/' }, to: { path: '^app/' } },
    { name: 'handlers-are-strangers', severity: 'error', from: { path: '^server/(parse|citations|deployments)/' }, to: { path: '^server/(parse|citations|deployments)/', pathNot: '^server/$1/' } },
    {
      name: 'app-takes-types-only', comment: 'except routes and server-only modules of app',
      severity: 'error', from: { path: '^app/', pathNot: '^app/(routes/|entry\\.server|root\\.tsx|.*\\.server\\.)' }, to: { path: '^server/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'app-imports-these-of-the-server', severity: 'error',
      from: { path: '^app/' }, to: { path: '^server/', pathNot: '^server/(console|operations|api)/', dependencyTypesNot: ['type-only'] },
    },
    { name: 'routes-are-strangers', severity: 'error', from: { path: '^app/routes/' }, to: { path: '^app/routes/', dependencyTypesNot: ['type-only'] } },
    { name: 'charts-have-recharts-alone', severity: 'error', from: { path: '^(app|server)/', pathNot: '^app/charts/' }, to: { path: 'node_modules/recharts/' } },
    { name: 'product-imports-no-tests', severity: 'error', from: { path: '^(app|server)/' }, to: { path: '^(tests|bench)/' } },
    { name: 'found', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^(virtual:|node:sqlite)' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(build|\\.cache|node_modules/\\.)' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: 'specify',
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'], conditionNames: ['import', 'node', 'default', 'types'], exportsFields: ['exports'] },
  },
};
