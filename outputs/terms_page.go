package outputs

import (
	"maps"
	"slices"
)

// termsPage are the words of the page's own controls and of the charts drawn
// from the records.
var termsPage = map[string]string{
	"Light": "浅色", "Dark": "深色", "Overview": "概览", "Clauses": "条款", "Samples": "样本", "Timeline": "请求时间线", "Table": "表格", "Data": "数据", "Series": "系列", "Sort": "排序",
	"Charts": "图表", "Reset zoom": "还原缩放", "Zoom in": "放大", "Zoom out": "缩小", "Log x": "X 轴对数", "Log y": "Y 轴对数",
	"Drag to zoom, double-click to reset; the arrow keys step through the points.": "拖动以放大，双击还原；方向键逐点查看。",
	"All": "全部", "Not right": "非正确", "Search prompt and answer": "搜索提示与回答", "All models": "全部模型", "All datasets": "全部数据集",
	"Id": "编号", "Outcome": "判定", "Gold": "参考答案", "Extracted": "提取结果", "Prompt": "提示", "Reasoning": "推理过程", "Answer": "回答", "Detail": "说明",
	"Previous": "上一页", "Next": "下一页", "No sample matches.": "没有符合条件的样本。", "Finish": "结束原因", "Score": "得分",
	"waiting for the first token": "等待首个 token", "receiving": "接收中",
	"Wheel zooms, drag moves, double-click resets; on the keyboard: arrows, + and −, 0.": "滚轮缩放，拖动平移，双击还原；键盘：方向键、+ 与 −、0。",
	"Time (s)": "时间（秒）", "Lane": "泳道", "sent": "发送", "first token": "首个 token", "end": "结束", "rows not shown": "行未显示",
	"Requests in flight over time": "在途请求数随时间变化", "Output token throughput over time": "输出 token 吞吐随时间变化", "Requests sent and finished over time": "发送与完成的请求随时间变化",
	"Time to first token: share of requests below": "首字时延分布（累计占比）", "End-to-end latency: share of requests below": "端到端时延分布（累计占比）",
	"TPOT and inter-token latency: share below": "TPOT 与 token 间隔分布（累计占比）", "TTFT against input length": "首字时延与输入长度", "Inter-token latency by output position": "token 间隔与输出位置",
	"Share of requests (%)": "请求占比（%）", "Share (%)": "占比（%）", "Output position (tokens)": "输出位置（token）", "TTFT (ms)": "首字时延 TTFT（ms）", "E2EL (ms)": "端到端时延 E2EL（ms）", "ITL (ms)": "token 间隔 ITL（ms）",
	"Mean in interval": "区间平均", "Peak in interval": "区间峰值", "Output tokens per second": "每秒输出 token", "Sent requests per second": "每秒发送请求", "Successful requests per second": "每秒成功请求", "Failed requests per second": "每秒失败请求",
	"ITL (per chunk gap)": "ITL（按数据块间隔）", "all others": "其余全部",
	"Throughput and concurrency over time": "吞吐与并发随时间变化", "Arrivals and completions over time": "到达与完成随时间变化", "arrivals": "到达", "completions": "完成", "in flight": "在途", "requests in flight": "在途请求数",
	"output tokens": "输出 token", "output token": "输出 token 位置", "output tokens per second": "每秒输出 token", "requests per second": "每秒请求",
}

// pageWords are the texts that the page's script asks for by itself.
func pageWords() []string {
	return append(slices.Sorted(maps.Keys(termsPage)), "failed", "Model", "Dataset", "Output tokens", "TTFT", "E2EL", "right", "wrong", "unparsable", "empty", "ok", "Warnings")
}
