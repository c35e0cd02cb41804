import hooks from "eslint-plugin-react-hooks";
import { defineConfig } from "eslint/config";
import ts from "typescript-eslint";

/** Sentences of exceptions and of the server are not the panel's: ui/problem.tsx shows failures in the language of the page. */
const rawMessage = {
  create(context) {
    const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices;
    const types = program.getTypeChecker();
    const isError = (type) =>
      type.symbol?.name === "Error" || (type.getBaseTypes?.() ?? []).some(isError) || (type.types ?? []).some(isError);
    return {
      'MemberExpression[property.name="message"]'(node) {
        if (isError(types.getTypeAtLocation(esTreeNodeToTSNodeMap.get(node.object))))
          context.report({ node, message: "Show why(e), problemText(e) or failed(e), not the message of an error." });
      },
    };
  },
};

export default defineConfig(
  { ignores: ["dist", "node_modules", "**/*.gen.ts", "e2e"] },
  {
    files: ["src/**/*.{ts,tsx}"],
    extends: [ts.configs.recommendedTypeChecked],
    plugins: { "react-hooks": hooks },
    languageOptions: {
      parserOptions: {
        project: ["tsconfig.json", "src/chat/tsconfig.json", "src/voice/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "off",
      "@typescript-eslint/no-unused-vars": [
        "error",
        {
          argsIgnorePattern: "^_",
          varsIgnorePattern: "^_",
          destructuredArrayIgnorePattern: "^_",
          ignoreRestSiblings: true,
        },
      ],
      // parameters of the routes and values of JSON.parse have no types yet
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-base-to-string": "off",
      "@typescript-eslint/no-unnecessary-type-assertion": "off",
      "@typescript-eslint/no-redundant-type-constituents": "off", // names the known values of a string
      // classes of the panel's stores bind their methods
      "@typescript-eslint/unbound-method": "off",
      // functions of an interface may be asynchronous in one implementation only
      "@typescript-eslint/require-await": "off",
      // the router's redirects and its errors without a stack are thrown
      "@typescript-eslint/only-throw-error": "off",
    },
  },
  {
    files: ["src/panel/**/*.{ts,tsx}"],
    ignores: ["src/panel/ui/problem.tsx", "src/panel/**/*.test.*"],
    plugins: { panel: { rules: { "raw-message": rawMessage } } },
    rules: { "panel/raw-message": "error" },
  },
);
