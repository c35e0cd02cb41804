import hooks from "eslint-plugin-react-hooks";
import { defineConfig } from "eslint/config";
import ts from "typescript-eslint";

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
);
