package outputs

// Terms translates the standing words of reports to Chinese. Report writers
// look up whole texts; what is not here stays English.
var Terms = map[string]string{
	"Summary": "摘要", "Accuracy": "精度", "Performance": "性能", "Sweep": "扫描", "Requests": "请求", "Errors": "错误",
	"Environment": "环境", "Config": "配置", "Chart data": "图表数据",
	"Verdict": "结论", "Reason": "理由", "Warnings": "警告", "Warning": "警告", "Headlines": "关键指标", "Metric": "指标", "Value": "值",
	"Unit": "单位", "Note": "备注", "Definition": "定义", "Reading help": "阅读说明", "Reproducibility checklist": "可复现性检查表",
	"Item": "项目", "State": "状态", "Evidence": "证据", "Group": "分组", "Key": "键", "Model": "模型", "Dataset": "数据集",
	"Sample": "样本", "Attempt": "尝试", "Status": "状态", "HTTP status": "HTTP 状态码", "Sent at": "发送时刻", "Request id": "请求编号",
	"Error": "错误", "Requests by status": "按状态统计的请求", "Failed requests": "失败的请求", "Share": "占比",
	"PASS": "通过", "FAIL": "未通过", "INCONCLUSIVE": "无法判定", "yes": "是", "no": "否", "partly": "部分",
	"Performance Parameters": "性能参数", "Common Metric": "通用指标", "Stage": "阶段", "total": "全程", "stable": "稳定阶段",
	"Average": "平均", "Mean": "平均", "Min": "最小", "Max": "最大", "Median": "中位数", "Std": "标准差", "N": "数量",
	"dataset": "数据集", "version": "版本", "metric": "指标", "mode": "模式", "n": "数量",
	"right": "正确", "wrong": "错误", "unparsable": "无法解析", "empty": "空回答", "failed": "请求失败",
	"Right": "正确", "Wrong": "错误", "Unparsable": "无法解析", "Empty": "空回答", "Failed": "请求失败",
	"server parameters recorded": "已记录服务端参数", "client parameters recorded": "已记录客户端参数", "seed fixed": "随机种子固定",
	"sampling fixed": "采样参数固定", "output length forced": "输出长度固定", "P95/P99 recorded": "已记录 P95/P99",
	"results time-stamped": "结果带时间戳", "prefix caching stated": "已说明前缀缓存", "commit of the tool": "工具的提交号",
	"commit of the surrounding repository": "所在仓库的提交号",
}

// translator looks up texts for one report.
type translator struct {
	zh    bool
	extra map[string]string
}

func newTranslator(d *ReportData) translator {
	return translator{zh: d.Lang == "zh", extra: d.Translations}
}

func (t translator) term(s string) string {
	if !t.zh {
		return s
	}
	return t.chinese(s)
}

func (t translator) chinese(s string) string {
	if v, ok := t.extra[s]; ok {
		return v
	}
	if v, ok := Terms[s]; ok {
		return v
	}
	return s
}

// label is the translated heading of a column.
func (t translator) label(c Column) string {
	c.Name = t.term(c.Name)
	return c.Label()
}
