package outputs

// termsLaunch are the words of engines that a run started itself.
var termsLaunch = map[string]string{
	"Engine started by the run": "本次运行启动的引擎", "program": "程序", "ready after (s)": "就绪耗时（秒）", "ended by itself": "自行退出", "version of %s": "{1} 的版本", "variable %s": "环境变量 {1}",
	"accelerator %s": "加速卡 {1}", "also on accelerator %s": "加速卡 {1} 上的其他进程",
	"process %d (%s) was on accelerator %s before the engine was started": "引擎启动前，进程 {1}（{2}）已在加速卡 {3} 上",
	"INVALID: the engine ended during the run: %s":                        "无效：引擎在运行期间退出：{1}",
	"the engine ended during the run: %s":                                 "引擎在运行期间退出：{1}",
}
