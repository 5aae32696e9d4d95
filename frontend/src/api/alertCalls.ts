/** The API's operations on alerts and their rules. */

import { answer, api } from "./client";
import type {
  AlertPage,
  AlertQuery,
  AlertRule,
  AlertRulePage,
  NewAlertRule,
  PageQuery,
  TestedReceiver,
} from "./types";

export const listAlerts = (workspace: string, query: AlertQuery): Promise<AlertPage> =>
  answer(api.GET("/api/workspaces/{workspace}/alerts", { params: { path: { workspace }, query } }));

export const listAlertRules = (workspace: string, query: PageQuery): Promise<AlertRulePage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/alert-rules", { params: { path: { workspace }, query } }),
  );

export const createAlertRule = (workspace: string, rule: NewAlertRule): Promise<AlertRule> =>
  answer(
    api.POST("/api/workspaces/{workspace}/alert-rules", {
      params: { path: { workspace } },
      body: rule,
    }),
  );

export const replaceAlertRule = (rule: number, content: NewAlertRule): Promise<AlertRule> =>
  answer(api.PUT("/api/alert-rules/{rule}", { params: { path: { rule } }, body: content }));

export const deleteAlertRule = (rule: number) =>
  api.DELETE("/api/alert-rules/{rule}", { params: { path: { rule } } });

export const testAlertRule = (rule: number): Promise<readonly TestedReceiver[]> =>
  answer(api.POST("/api/alert-rules/{rule}/test", { params: { path: { rule } } }));
