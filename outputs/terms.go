package outputs

import (
	"maps"
	"sync"
)

// termLists are the fixed texts by subject.
var termLists = []map[string]string{
	termsWords,
	termsMetrics,
	termsHealth,
	termsNotes,
	termsContract,
	termsServer,
	termsLaunch,
	termsCompare,
	termsSweep,
	termsPoints,
	termsPage,
}

// terms are the fixed texts of reports in Chinese, by their English; see
// translator. What is not here stays English, which a test finds.
var terms = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, list := range termLists {
		maps.Copy(all, list)
	}
	return all
})

// termsWords are titles, headings and words in cells.
var termsWords = map[string]string{
	// Sheets and chapters.
	"Summary": "摘要", "Accuracy": "精度", "Performance": "性能", "Sweep": "扫描", "Requests": "请求", "Errors": "错误",
	"Environment": "环境", "Config": "配置", "Chart data": "图表数据", "Reading help": "阅读说明", "Definitions": "指标定义",
	"%v on %v":                "{1}：{2}",
	"%v on %v and %d more":    "{1}：{2}，另有 {3} 项",
	"Performance of %v on %v": "{1} 在 {2} 上的性能",
	"%s: %v on %v":            "{1}：{2} / {3}",

	// Verdict, headlines, checklist.
	"Verdict": "结论", "Reason": "理由", "Warnings": "警告", "Warning": "警告", "Headlines": "关键指标", "Metric": "指标", "Value": "值",
	"Unit": "单位", "Note": "备注", "Definition": "定义", "Reproducibility checklist": "可复现性检查表",
	"Item": "项目", "State": "状态", "Evidence": "证据", "Group": "分组", "Key": "键", "Model": "模型", "Dataset": "数据集",
	"PASS": "通过", "FAIL": "未通过", "INCONCLUSIVE": "无法判定", "yes": "是", "no": "否", "partly": "部分", "suspect": "可疑", "unknown": "未知",

	// Accuracy.
	"dataset": "数据集", "version": "版本", "metric": "指标", "mode": "模式", "n": "数量", "model": "模型", "scorer": "评分器",
	"95 % CI": "95 % 置信区间", "%.2f to %.2f": "{1} 至 {2}", "accuracy": "准确率", "gen": "生成", "ppl": "困惑度",
	"accuracy, %s": "准确率，{1}", "naive_average": "算术平均", "weighted_average": "加权平均",
	"at least": "至少", "incomplete": "不完整", "of %d": "共 {1}",
	"Answers by outcome": "按判定统计的回答", "right": "正确", "wrong": "错误", "unparsable": "无法解析", "empty": "空回答", "failed": "请求失败",
	"Right": "正确", "Wrong": "错误", "Unparsable": "无法解析", "Empty": "空回答", "Failed": "失败", "of all": "占全部", "of answered": "占已回答",
	"Published scores": "公开分数", "published": "公开值", "source": "来源",

	// Performance tables.
	"Performance Parameters": "性能参数", "Common Metric": "通用指标", "Stage": "阶段", "total": "全程", "stable": "稳定阶段", "Stable stage": "稳定阶段",
	"Average": "平均", "Mean": "平均", "mean": "平均", "Min": "最小", "Max": "最大", "Median": "中位数", "Std": "标准差", "N": "数量",
	"%s of AISBench's stable stage": "{1}（AISBench 稳定阶段）",
	"By input length":               "按输入长度", "Input tokens": "输入 token", "Output tokens": "输出 token", "Output tokens, mean": "平均输出 token", "Gaps": "间隔数",
	"TTFT mean": "TTFT 平均", "TPOT mean": "TPOT 平均", "E2EL mean": "E2EL 平均",
	"%s (%d and more)": "{1}（{2} 及以上）", "%s (%d to %d)": "{1}（{2} 至 {3}）", "%d to %d": "{1} 至 {2}", "short": "短", "medium": "中", "long": "长",
	"ITL by output position":     "按输出位置的 ITL",
	"Where mean and median part": "平均与中位数不一致之处", "Mean against median": "平均相对中位数", "Most extreme samples": "最极端的样本",
	"Mean of the others": "其余请求的平均", "The most extreme requests": "最极端的请求", "Share of the sum": "占总和的比例",
	"Sample": "样本", "Sent at": "发送时刻", "Request id": "请求编号", "%s turn %d": "{1} 第 {2} 轮",

	// Requests and errors.
	"Attempt": "尝试", "Status": "状态", "HTTP status": "HTTP 状态码", "Error": "错误", "Requests by status": "按状态统计的请求", "Share": "占比",
	"All requests: %s": "全部请求：{1}",
	"ok":               "成功", "dial": "连接失败（dial）", "tls": "TLS 失败（tls）", "timeout_connect": "连接超时（timeout_connect）", "timeout_first_token": "首 token 超时（timeout_first_token）",
	"timeout_idle": "流中断超时（timeout_idle）", "timeout_total": "总时长超时（timeout_total）", "http_4xx": "HTTP 4xx 错误", "http_429": "HTTP 429 限流", "http_5xx": "HTTP 5xx 错误",
	"stream_error": "流内错误（stream_error）", "truncated": "截断（truncated）", "malformed": "格式错误（malformed）", "cancelled": "已取消（cancelled）",

	// Environment and configuration.
	"Run": "运行", "Figure": "项目", "state": "状态", "reason of the state": "状态原因", "started": "开始", "ended": "结束", "tool": "工具",
	"commit of the tool": "工具的提交号", "built from a changed tree": "由改动过的代码树构建", "Go version": "Go 版本", "commit of the surrounding repository": "所在仓库的提交号",
	"running": "运行中", "done": "已完成", "interrupted": "已中断",
	"Server": "服务端", "Server in session %d": "第 {1} 次会话的服务端", "Before": "运行前", "After": "运行后", "asked at": "询问时刻", "address": "地址", "engine": "引擎",
	"could not be asked (%d)": "无法询问（{1}）", "%d more in manifest.json": "其余 {1} 项见 manifest.json",
	"Told by the user, and on the way": "用户提供及途经信息",
	"Client machine":                   "客户端机器", "operating system": "操作系统", "kernel": "内核", "processor": "处理器", "logical processors usable": "可用逻辑处理器",
	"threads running Go code at once": "同时运行 Go 代码的线程", "memory": "内存", "open files at most": "打开文件上限", "host name": "主机名",
	"Clock": "时钟", "zero of the records' times": "记录时间的零点", "arrivals stamped by": "到达时刻由谁打戳", "share stamped by the kernel": "内核打戳占比",
	"drift of the wall clock during the run": "运行期间墙钟漂移", "smallest difference between two readings": "两次读数的最小差", "jumps of the wall clock": "墙钟跳变次数", "note": "备注",
	"userspace": "用户态", "mixed": "混合", "%.1f GiB": "{1} GiB",
	"Sessions": "会话", "Session": "会话", "Mode": "模式", "Started": "开始", "Duration": "时长", "Questions asked": "已提问数",
	"Data files": "数据文件", "File": "文件", "Rows": "行数", "Bytes": "字节",
	"command": "命令", "command line": "命令行", "command line of session %d": "第 {1} 次会话的命令行", "configuration": "配置", "seed": "随机种子", "sampling": "采样", "workload": "负载",
	"model %v": "模型 {1}", "dataset %v": "数据集 {1}", "embedded, %s": "内置，{1}",
}
