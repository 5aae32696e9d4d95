/** The API's operations on sessions, accounts and workspaces. */

import { answer, api } from "./client";
import type {
  AbandonedDraftPage,
  Account,
  AccountChange,
  AccountPage,
  AddedMember,
  AuditEntryPage,
  CreatedToken,
  CreatedWorkspace,
  Member,
  MemberPage,
  NewMember,
  NewWorkspace,
  OwnDraftPage,
  PageQuery,
  Role,
  Session,
  TokenPage,
  WorkspaceContents,
  WorkspaceRules,
  WorkspaceRulesChange,
  WorkspaceSettings,
  WorkspaceSettingsPage,
} from "./types";

export const getSession = (): Promise<Session> => answer(api.GET("/api/session"));

export const signIn = (username: string, password: string): Promise<Session> =>
  answer(api.POST("/api/session", { body: { username, password } }));

export const signInByLink = (token: string): Promise<Session> =>
  answer(api.POST("/api/session/link", { body: { token } }));

export const signOut = () => api.DELETE("/api/session");

export const setPassword = (current: string, next: string): Promise<Session> =>
  answer(api.PUT("/api/account/password", { body: { current, new: next } }));

export const listTokens = (query: PageQuery): Promise<TokenPage> =>
  answer(api.GET("/api/tokens", { params: { query } }));

export const createToken = (name: string, days: number): Promise<CreatedToken> =>
  answer(api.POST("/api/tokens", { body: { name, days } }));

export const deleteToken = (token: number) =>
  api.DELETE("/api/tokens/{token}", { params: { path: { token } } });

export const getRules = (workspace: string): Promise<WorkspaceRules> =>
  answer(api.GET("/api/workspaces/{workspace}/rules", { params: { path: { workspace } } }));

export const setRules = (workspace: string, rules: WorkspaceRulesChange): Promise<WorkspaceRules> =>
  answer(
    api.PUT("/api/workspaces/{workspace}/rules", {
      params: { path: { workspace } },
      body: rules,
    }),
  );

export const listMembers = (workspace: string, query: PageQuery): Promise<MemberPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/members", { params: { path: { workspace }, query } }),
  );

export const addMember = (workspace: string, member: NewMember): Promise<AddedMember> =>
  answer(
    api.POST("/api/workspaces/{workspace}/members", {
      params: { path: { workspace } },
      body: member,
    }),
  );

export const changeMember = (workspace: string, member: number, role: Role): Promise<Member> =>
  answer(
    api.PATCH("/api/workspaces/{workspace}/members/{member}", {
      params: { path: { workspace, member } },
      body: { role },
    }),
  );

export const removeMember = (workspace: string, member: number) =>
  api.DELETE("/api/workspaces/{workspace}/members/{member}", {
    params: { path: { workspace, member } },
  });

/** The audit log of a workspace, for its admins. */
export const listAudit = (workspace: string, query: PageQuery): Promise<AuditEntryPage> =>
  answer(api.GET("/api/workspaces/{workspace}/audit", { params: { path: { workspace }, query } }));

/** A new one-time sign-in link for a member; earlier ones become invalid. */
export const memberLink = (workspace: string, member: number): Promise<{ sign_in_link: string }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/members/{member}/link", {
      params: { path: { workspace, member } },
    }),
  );

export const listWorkspaces = (query: PageQuery): Promise<WorkspaceSettingsPage> =>
  answer(api.GET("/api/installation/workspaces", { params: { query } }));

export const setTopicPrefixes = (
  workspace: string,
  prefixes: string[],
): Promise<WorkspaceSettings> =>
  answer(
    api.PUT("/api/installation/workspaces/{workspace}", {
      params: { path: { workspace } },
      body: { topic_prefixes: prefixes },
    }),
  );

export const createWorkspace = (workspace: NewWorkspace): Promise<CreatedWorkspace> =>
  answer(api.POST("/api/installation/workspaces", { body: workspace }));

/** What is deleted with a workspace, for those who may delete it. */
export const getWorkspaceContents = (workspace: string): Promise<WorkspaceContents> =>
  answer(api.GET("/api/workspaces/{workspace}", { params: { path: { workspace } } }));

export const deleteWorkspace = (workspace: string, name: string) =>
  api.DELETE("/api/workspaces/{workspace}", { params: { path: { workspace }, query: { name } } });

/** The audit log of the installation, for its admins: what was done in no workspace, or in one that is deleted. */
export const listInstallationAudit = (query: PageQuery): Promise<AuditEntryPage> =>
  answer(api.GET("/api/installation/audit", { params: { query } }));

export const changeAccount = (account: number, change: AccountChange): Promise<Account> =>
  answer(
    api.PATCH("/api/installation/accounts/{account}", {
      params: { path: { account } },
      body: change,
    }),
  );

export const listAbandonedDrafts = (query: PageQuery): Promise<AbandonedDraftPage> =>
  answer(api.GET("/api/installation/drafts", { params: { query } }));

export const deleteAbandonedDraft = (draft: number) =>
  api.DELETE("/api/installation/drafts/{draft}", { params: { path: { draft } } });

export const listDrafts = (query: PageQuery): Promise<OwnDraftPage> =>
  answer(api.GET("/api/drafts", { params: { query } }));

export const deleteDraft = (draft: number) =>
  api.DELETE("/api/drafts/{draft}", { params: { path: { draft } } });

export const listAccounts = (query: PageQuery): Promise<AccountPage> =>
  answer(api.GET("/api/installation/accounts", { params: { query } }));

export const accountLink = (account: number): Promise<{ sign_in_link: string }> =>
  answer(api.POST("/api/installation/accounts/{account}/link", { params: { path: { account } } }));
