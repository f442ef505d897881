import type { AgentName } from '../core/model/agent-traits.ts';

/**
 * The caller's variables that each agent's program logs in with: names, or `PREFIX_*`. Cloud keys with access to more
 * than models, and keys of rare providers, need a `pass-env`.
 */
export const CREDENTIALS: Readonly<Record<AgentName, readonly string[]>> = {
  opencode: [
    ...['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY'],
    ...['GOOGLE_GENERATIVE_AI_API_KEY', 'GROQ_API_KEY', 'MISTRAL_API_KEY', 'XAI_API_KEY', 'DEEPSEEK_API_KEY'],
    ...['CEREBRAS_API_KEY', 'TOGETHER_API_KEY', 'FIREWORKS_API_KEY', 'DEEPINFRA_API_KEY', 'COHERE_API_KEY'],
    ...['MOONSHOT_API_KEY', 'ZHIPU_API_KEY', 'ZAI_API_KEY', 'AZURE_API_KEY', 'AZURE_RESOURCE_NAME'],
    ...['AWS_BEARER_TOKEN_BEDROCK', 'AWS_REGION', 'HF_TOKEN'],
  ],
  claude: [
    ...['ANTHROPIC_*', 'CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CODE_API_KEY_HELPER_TTL_MS'],
    ...['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'],
    ...['CLAUDE_CODE_SKIP_BEDROCK_AUTH', 'CLAUDE_CODE_SKIP_VERTEX_AUTH', 'CLAUDE_CODE_SKIP_FOUNDRY_AUTH'],
    ...['CLAUDE_CODE_CLIENT_CERT', 'CLAUDE_CODE_CLIENT_KEY', 'CLAUDE_CODE_CLIENT_KEY_PASSPHRASE'],
    ...['AWS_REGION', 'AWS_PROFILE', 'AWS_BEARER_TOKEN_BEDROCK', 'CLOUD_ML_REGION', 'VERTEX_REGION_*'],
    ...['GOOGLE_APPLICATION_CREDENTIALS', 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC'],
  ],
  codex: ['OPENAI_*', 'CODEX_*'],
  acp: ['ANTHROPIC_*', 'CLAUDE_*', 'OPENAI_*', 'CODEX_*', 'GEMINI_*', 'GOOGLE_*', 'OPENCODE_*'],
  shell: [],
  command: [],
};
