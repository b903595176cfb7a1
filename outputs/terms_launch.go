package outputs

// termsLaunch are the words of engines that a run started itself, and of grids.
var termsLaunch = map[string]string{
	"Engine started by the run": "本次运行启动的引擎", "program": "程序", "ready after (s)": "就绪耗时（秒）", "ended by itself": "自行退出", "version of %s": "{1} 的版本", "variable %s": "环境变量 {1}",
	"accelerator %s": "加速卡 {1}", "also on accelerator %s": "加速卡 {1} 上的其他进程",
	"process %d (%s) was on accelerator %s before the engine was started": "引擎启动前，进程 {1}（{2}）已在加速卡 {3} 上",
	"INVALID: the engine ended during the run: %s":                        "无效：引擎在运行期间退出：{1}",
	"the engine ended during the run: %s":                                 "引擎在运行期间退出：{1}",

	"Trade-off": "权衡", "Trade-off of %s": "{1} 的权衡", "Grid over %s": "{1} 的网格", "Trade-off: %s against %s": "权衡：{1} 与 {2}", "%s along %s": "{1} 随 {2} 的变化", "Each parameter by itself": "各参数单独的影响",
	"Combinations": "组合数", "against the first": "与第一个值相比", "against the first ": "与第一个值相比", "Pareto": "帕累托", "best": "最佳", "best, Pareto": "最佳、帕累托", "Pareto front %s": "帕累托前沿 {1}", "beaten in both %s": "两方面均不占优 {1}",
	"%s (best)": "{1}（最佳）", "%s (Pareto)": "{1}（帕累托）",
	"Pareto front (no other combination has both more %s and a lower %s): %s": "帕累托前沿（没有其他组合同时具有更高的{1}和更低的 {2}）：{3}",
	"best within %s: %s (%s), %s": "满足 {1} 的最佳组合：{2}（{3}），{4}",
	"not to be told apart from it by these runs (their intervals of %s overlap): %s":                         "凭这些运行无法与之区分（{1}的区间重叠）：{2}",
	"one run a combination: how far figures vary between runs is unknown; --num-runs 3 tells":                "每个组合只有一次运行：运行间的波动未知；--num-runs 3 可得知",
	"undecided, because the interval over the runs contains the limit: %s; more runs (--num-runs) narrow it": "无法判定，因为各次运行的区间包含限值：{1}；增加运行次数（--num-runs）可缩小区间",
	"the condition is undefined for %s (see docs/metrics.md): no data is never a pass":                       "条件对 {1} 无定义（见 docs/metrics.md）：没有数据绝不算通过",
	"no combination holds %s": "没有组合满足 {1}", "no combination holds %s; the lowest %s is %s, of %s": "没有组合满足 {1}；最低的 {2} 为 {3}，属于 {4}",
	"%d of %d combinations are incomplete; --reuse measures what is missing": "{2} 个组合中 {1} 个不完整；--reuse 可补测缺失部分",
	"the grid is incomplete: %s": "网格不完整：{1}",
	"± half of Student's 95 % interval of the mean over runs; a percentile is the mean of the runs' percentiles":                                                                               "± 为各次运行均值的 95 % 学生区间的一半；百分位数为各次运行百分位数的均值",
	"* a run is too small a sample for this percentile (p99 needs 100 requests)":                                                                                                               "* 单次运行的样本不足以支撑该百分位数（p99 需要 100 个请求）",
	"means over the combinations with this value; where a combination is missing the other values' means are of more, and a parameter that acts only together with another does not show here": "对具有该值的组合取均值；若有组合缺失，其他值的均值来自更多组合；只与其他参数共同起作用的参数在此看不出",
	"one point a combination; to the right is more throughput, downwards is faster; no other combination is better in both than those of the Pareto front":                                     "每个组合一个点；越靠右吞吐越高，越靠下越快；帕累托前沿上的组合没有被其他组合在两方面同时超过",
	"%s of the best within the SLO": "满足 SLO 的最佳组合的 {1}", "Largest %s": "最大的{1}", "Lowest %s": "最低的 {1}",
	"Pareto front": "帕累托前沿", "Best within the SLO": "满足 SLO 的最佳组合",
	"the combinations that no other beats: none has at least as much throughput and at most the latency, and is better in one of the two":                            "没有被其他组合超过的组合：没有别的组合吞吐不低于它、时延不高于它且其中一项更好",
	"the largest throughput among the combinations whose condition holds; with several runs a condition holds when the interval over the runs lies within the limit": "在满足条件的组合中吞吐最大者；多次运行时，各次运行的区间落在限值之内才算满足",
}
