/** The API's operations on alerts and their rules. */

import { answer, api } from "./client";
import type {
  AlertPage,
  AlertRule,
  AlertRulePage,
  AlertState,
  NewAlertRule,
  TestedReceiver,
} from "./types";

interface AlertQuery {
  readonly state?: AlertState;
  readonly search?: string;
  readonly page?: number;
  readonly page_size?: number;
}

export const listAlerts = (workspace: string, query: AlertQuery): Promise<AlertPage> =>
  answer(api.GET("/api/workspaces/{workspace}/alerts", { params: { path: { workspace }, query } }));

export const listAlertRules = (
  workspace: string,
  search: string,
  page: number,
  size: number,
): Promise<AlertRulePage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/alert-rules", {
      params: { path: { workspace }, query: { search, page, page_size: size } },
    }),
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
