package datasets

import "strings"

// The words generated tasks are made of, all our own.

var adjectives = strings.Fields(`able amber ancient arctic bitter bold brave bright brisk broad calm careful cheerful clean clear clever
coarse cold cool crisp curious damp dark deep distant dry dull eager early elegant even faint fair famous fancy fast firm flat fond fresh
gentle giant glad golden grand grateful gray great happy hard hasty heavy hollow honest huge humble icy idle jolly keen kind large late lazy
light little lively lonely long loud lucky mellow merry mild modest narrow neat noble odd old orderly pale patient plain polite proud quick quiet
rapid rare ready rich rough round royal rustic safe salty shallow sharp shiny short shy silent silver simple sleepy slow small smooth soft
solid sour steady steep still stout strange strong sturdy sunny sweet swift tall tame tender thick thin tidy tiny tough vast vivid warm wide wild wise young`)

var nouns = strings.Fields(`acorn anchor anvil apple arch arrow attic badge baker balcony bamboo banner barn barrel basin basket beacon beaver bell bench
berry blanket boat bottle bridge brook broom bucket button cabin cactus camel canal candle canoe canyon carpet castle cave cedar cellar chapel cherry
chest chimney clock cloud clover coast compass copper coral cottage cradle crane creek crown desert dolphin donkey drum eagle easel engine falcon feather
fence fern ferry fiddle field flute forest fountain fox garden gate glacier goose grove hammer harbor harp hawk hazel hedge helmet heron hill honey
horn island ivory jacket jewel jungle kettle kite ladder lagoon lamp lantern lark lemon library lighthouse lily lizard lobby locket maple marble market
meadow mill mirror moon mountain museum nest oak oasis ocean orchard otter owl paddle palace panther parrot path pebble pepper piano pigeon pillow pine
planet plow pocket pond poppy quarry quilt rabbit raven reed ribbon ridge river robin rocket roof rope rose saddle sail salmon shell shore
sparrow spring stable statue stove stream summit swan table temple thistle tiger tower trail train tulip tunnel turtle valley vault village violin wagon
walnut well whale wheat willow window wolf workshop`)

var chinesePlaces = strings.Fields(`钟楼 书房 果园 码头 茶馆 图书馆 花园 仓库 磨坊 车站 教室 博物馆 剧院 灯塔 地窖 阁楼 集市 驿站 桥洞 石塔 池塘 竹林 庙宇 城门 邮局 面包房 渡口 祠堂 鱼塘 菜园`)

var givenNames = map[string][]string{
	"en": strings.Fields(`Alda Bruno Celia Dario Edith Felix Greta Hugo Irma Jonas Klara Linus Mona Nils Olga Paul Rita Silas Thea Ulric Vera Walt Yara Zeno`),
	"zh": strings.Fields(`安宁 博文 晨光 德明 恩泽 福生 国栋 海燕 佳怡 康健 乐天 明月 念慈 平安 清泉 瑞雪 思远 天佑 文静 向阳 雅琴 云飞 泽民 志强`),
}

var familyNames = map[string][]string{
	"en": strings.Fields(`Abbot Brandt Corley Dunmore Ellery Fenwick Garrick Holm Ibsen Jarvis Kessler Lorne Marlow Norden Osgood Penrose Quill Radley Sorel Thorne Upton Varley Wexler Yardley`),
	"zh": strings.Fields(`赵 钱 孙 李 周 吴 郑 王 冯 陈 褚 卫 蒋 沈 韩 杨 朱 秦 许 何 吕 施 张 孔`),
}

// relations say that the first person is an elder of the second.
var relations = map[string][]string{
	"en": {"%s is the father of %s.", "%s is the mother of %s.", "%[2]s is a child of %[1]s.", "%s is a parent of %s."},
	"zh": {"%s是%s的父亲。", "%s是%s的母亲。", "%[2]s是%[1]s的孩子。"},
}

// ownFiller is the haystack where no text is at hand. The first entry is the one
// that tasks with a repeated passage use.
var ownFiller = map[string][]string{
	"en": {
		"The river runs slowly. The wind is mild. The road is long. We walk on. Evening comes and morning follows.",
		"A carpenter measures twice before the saw touches the wood, and the shop smells of resin all day.",
		"In the old harbour the boats lie close together and knock against each other when the tide turns.",
		"Bread takes time, and nobody has found a way to hurry dough without spoiling the crust.",
		"The first trains of the day carry bakers, nurses and people who never learned to sleep late.",
		"When the snow melts, the paths above the village turn soft and the goats choose their own way.",
		"A good teacher waits a little longer for an answer than is comfortable for the class.",
		"The museum keeps its smallest clock in a room of its own, because it is also the loudest.",
		"Old maps show forests where there are now suburbs, and wells where nobody remembers drinking.",
		"Two neighbours have argued about the same fence for so long that they would miss it.",
		"Whoever writes letters by hand thinks about the end of a sentence before its beginning.",
		"The market sells onions by the sack and stories for nothing, mostly before ten in the morning.",
		"After the rain the city looks as if somebody had drawn its outlines with a sharper pencil.",
		"A lighthouse keeper once noted the colour of the sea every day for eleven years.",
		"The orchestra tunes to the oboe, and for a moment everybody agrees about something.",
		"In autumn the school yard fills with leaves, and the caretaker sweeps them into patient hills.",
	},
	"zh": {
		"河水缓缓流过，微风轻轻吹来，道路很长，我们继续往前走，傍晚过后又是清晨。",
		"木匠下锯之前总要量上两遍，铺子里整天都有松脂的气味。",
		"老码头的船一条挨着一条，潮水一变就轻轻相碰。",
		"做面包急不得，谁也没有办法让面团既快又好。",
		"清早的头班车上坐着面包师、护士，还有从来不会睡懒觉的人。",
		"雪化的时候，村子上头的小路变得松软，山羊自己挑着路走。",
		"好老师等待回答的时间，总比课堂上觉得自在的时间长一点。",
		"博物馆里最小的钟单独放在一间屋里，因为它也最响。",
		"旧地图上画着森林的地方，现在已是城郊，水井也早没有人记得。",
		"两家邻居为同一道篱笆争了许多年，真没了它反倒会想念。",
		"集市上洋葱论袋卖，故事不要钱，大多在上午十点以前。",
		"雨后的城市，好像有人用更尖的铅笔把轮廓重新描了一遍。",
		"有位守塔人曾经一连十一年，每天记下海水的颜色。",
		"秋天的操场落满树叶，看门人不慌不忙地把它们扫成小山。",
	},
}
